"""Inputs that go where the machine has an accelerator, and a model that a caller placed: part of DEV302.

A class or function gets a model and never moves it; what it hands to the model it sends to `cuda` because that is
there. The model is where the caller put it, on the CPU or on another index. Where a caller in the file moves it on a
condition only, `if args.gpu >= 0: model.cuda()`, it stays on the CPU for whoever asks for no accelerator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import starmap
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step, provenance_of
from devlint.drafts.wording import code_of, device_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import DeviceName
from devlint.placement.domain.lattice import (
    CPU,
    Choice,
    GuardKind,
    describe,
    guards_of,
    is_accelerator,
    is_device_by_name,
    is_of_parameter,
    leaves,
)
from devlint.placement.domain.provenance import Provenance, Step, StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.rules.current_device import goes_to_current, is_current
from devlint.rules.naming.device_candidates import falls_back
from devlint.rules.naming.ways_out import speak_of_devices
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Module, Opaque
    from devlint.placement.domain.events import CallersModuleCalled, Moved, Stored


@dataclass(slots=True)
class ChosenForModels:
    """The calls of models that came in with inputs on the machine's accelerator, in one file."""

    _drafts: list[tuple[str, Draft]] = field(default_factory=list)
    """With the last part of the model's name."""
    _moved: set[str] = field(default_factory=set)
    """The last parts of the names of whatever the file moves, but to a device that it is told."""
    _bound: set[tuple[str, str]] = field(default_factory=set)
    """Names that definitions bind: what is bound outside of them is as well at hand for whoever places the model."""
    _chosen: dict[int, cst.CSTNode] = field(default_factory=dict)
    """Transfers to the accelerator that the machine has, by the identity of their nodes."""
    _asked_for: list[Draft] = field(default_factory=list)
    """Inputs that go there in any case, for a model that a caller in the file moves if that is asked for."""
    _unasked: set[int] = field(default_factory=set)
    """Transfers to the accelerator that nothing decides, by the identity of their nodes."""
    _by_machine: dict[int, str] = field(default_factory=dict)
    """Transfers to what the machine has, by the identity of their nodes, and how that device is spelled."""
    _for_chosen: list[tuple[CallersModuleCalled, Step]] = field(default_factory=list)
    """Inputs of the first kind, for a model that a caller in the file moves somewhere."""

    def stored(self, event: Stored) -> None:
        if event.scope.qualname:
            self._bound.add((event.scope.qualname, event.target))

    def moved(self, event: Moved) -> None:
        if not _is_told(event):
            self._moved.add(event.receiver_text.rpartition(".")[2])
        named = event.named.value if event.named is not None else None
        by_machine = event.guarded or (isinstance(named, DeviceName) and named.chosen_by_probe)
        spelled = code_of(event.named.node) if event.named is not None else ""
        shared = spelled.isidentifier() and (event.scope.qualname, spelled) not in self._bound
        if goes_to_current(event) or (is_current(event.target) and by_machine and not shared):
            self._chosen[id(event.node)] = event.node
        if goes_to_current(event) and not event.guarded and not speak_of_devices(event.arms):
            self._unasked.add(id(event.node))
        if isinstance(named, DeviceName) and falls_back(named) and not speak_of_devices(event.arms):
            self._by_machine[id(event.node)] = spelled

    def called(self, event: CallersModuleCalled) -> None:
        scope = event.scope
        if scope.setting is Setting.MODULE_LEVEL or is_named_for_accelerator(scope.qualname):
            return
        for operand in event.inputs:
            step = _sent(provenance_of(operand.value))
            if step is None or id(step.node) not in self._chosen:
                continue
            name = code_of(event.module.node)
            asked = _asked_for(event)
            if asked is not None and device_of(operand.value) == step.device and scope.role is not Role.TEST:
                self._asked_for.append(_in_any_case(event, step, name, asked))
                return
            if event.brought is not None and scope.role is not Role.TEST and step.scope == scope:
                self._for_chosen.append((event, step))
            came_in = provenance_of(event.module.value)
            first = (DraftStep(came_in.first.node, came_in.first.scope, f"`{name}` comes in here"),) if came_in else ()
            draft = Draft(
                node=step.node,
                scope=step.scope,
                message=f"{quoted(step.node, 'the input')} goes to the accelerator of the machine, and "
                f"`{name}`, which it is handed to, is where the caller put it",
                confidence=Confidence.MEDIUM if scope.role is Role.LIBRARY else Confidence.LOW,
                trace=(*first, DraftStep(event.node, scope, "they meet here")),
                repair=Repair(Applicability.SUGGESTION, f"send it to `next({name}.parameters()).device`"),
            )
            self._drafts.append((name.rpartition(".")[2], draft))
            return

    def where_asked_for(self) -> Iterator[Draft]:
        """What a caller in sight contradicts, whatever else is known of the transfer: once for each of them."""
        chosen = filter(None, starmap(self._for_a_choice, self._for_chosen))
        yield from {id(draft.node): draft for draft in (*self._asked_for, *chosen)}.values()

    def _for_a_choice(self, event: CallersModuleCalled, step: Step) -> Draft | None:
        """``model.to(device)`` in a caller, of a device that is the CPU where the machine has no accelerator."""
        brought = _sent(provenance_of(event.brought)) if event.brought is not None else None
        device = self._by_machine.get(id(brought.node)) if brought is not None else None
        if brought is None or device is None or id(step.node) not in self._unasked or speak_of_devices(event.arms):
            return None
        name = code_of(event.module.node)
        return Draft(
            node=step.node,
            scope=step.scope,
            message=f"{quoted(step.node, 'the input')} goes to the accelerator in any case, and `{name}`, which it is "
            f"handed to, is on `{device}`, which is the CPU where there is none",
            confidence=Confidence.MEDIUM,
            trace=(
                DraftStep(brought.node, brought.scope, f"`{name}` is brought there here"),
                DraftStep(event.node, event.scope, "they meet here"),
            ),
            repair=Repair(Applicability.SUGGESTION, f"send it to `next({name}.parameters()).device`"),
        )

    def finish(self, told: frozenset[int]) -> Iterator[Draft]:
        """``told``: the nodes that another part of the rule speaks of."""
        seen = set(told)
        for model, draft in self._drafts:
            if model not in self._moved and id(draft.node) not in seen:
                seen.add(id(draft.node))
                yield draft


def _is_told(event: Moved) -> bool:
    """``self.model.to(self.device)``, ``model.to(device)``: who made the object, or called, may have said the CPU.

    In a method or function alone: what the top level of a program says is said for the whole of it.
    """
    inside = event.scope.setting is not Setting.MODULE_LEVEL
    return inside and is_of_parameter(event.target) and is_device_by_name(event.target)


def _sent(provenance: Provenance | None) -> Step | None:
    """The transfer that a value comes from as it is; what a model made of it is that model's affair."""
    step = provenance.step if provenance is not None else None
    return step if step is not None and step.kind is StepKind.MOVED else None


def _asked_for(event: CallersModuleCalled) -> Module | Opaque | None:
    """The model as a caller has it that moves it on a condition, and leaves it on the CPU otherwise.

    Where the call here, or its input, depends on a condition as well, that may be the same one.
    """
    brought = event.brought
    if brought is None or event.arms or not isinstance(brought.device, Choice):
        return None
    arms = leaves(brought.device)
    asks = {guard.kind for guard in guards_of(brought.device)}
    chosen = asks <= {GuardKind.PLAIN, GuardKind.ON_ACCELERATOR}
    return brought if chosen and CPU in arms and any(map(is_accelerator, arms)) else None


def _in_any_case(event: CallersModuleCalled, step: Step, name: str, brought: Module | Opaque) -> Draft:
    steps = tuple(draft_step(one) for one in reversed(tuple(brought.provenance or ())))
    return Draft(
        node=step.node,
        scope=step.scope,
        message=f"{quoted(step.node, 'the input')} goes to the accelerator in any case, and `{name}`, which it is "
        f"handed to, is on {describe(brought.device)}",
        confidence=Confidence.MEDIUM,
        trace=(*steps, DraftStep(event.node, event.scope, "they meet here")),
        repair=Repair(Applicability.SUGGESTION, f"send it to `next({name}.parameters()).device`"),
    )
