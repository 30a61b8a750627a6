"""Inputs that go where the machine has an accelerator, and a model that a caller placed: part of DEV302.

A class or function gets a model and never moves it; what it hands to the model it sends to `cuda` because that is
there. The model is where the caller put it, on the CPU or on another index.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import DeviceName
from devlint.placement.domain.provenance import Provenance, Step, StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.rules.current_device import goes_to_current, is_current
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import CallersModuleCalled, Moved, Stored


@dataclass(slots=True)
class ChosenForModels:
    """The calls of models that came in with inputs on the machine's accelerator, in one file."""

    _drafts: list[tuple[str, Draft]] = field(default_factory=list)
    """With the last part of the model's name."""
    _moved: set[str] = field(default_factory=set)
    """The last parts of the names of whatever the file moves."""
    _bound: set[tuple[str, str]] = field(default_factory=set)
    """Names that definitions bind: what is bound outside of them is as well at hand for whoever places the model."""
    _chosen: dict[int, cst.CSTNode] = field(default_factory=dict)
    """Transfers to the accelerator that the machine has, by the identity of their nodes."""

    def stored(self, event: Stored) -> None:
        if event.scope.qualname:
            self._bound.add((event.scope.qualname, event.target))

    def moved(self, event: Moved) -> None:
        self._moved.add(event.receiver_text.rpartition(".")[2])
        named = event.named.value if event.named is not None else None
        by_machine = event.guarded or (isinstance(named, DeviceName) and named.chosen_by_probe)
        spelled = code_of(event.named.node) if event.named is not None else ""
        shared = spelled.isidentifier() and (event.scope.qualname, spelled) not in self._bound
        if goes_to_current(event) or (is_current(event.target) and by_machine and not shared):
            self._chosen[id(event.node)] = event.node

    def called(self, event: CallersModuleCalled) -> None:
        scope = event.scope
        if scope.setting is Setting.MODULE_LEVEL or is_named_for_accelerator(scope.qualname):
            return
        for operand in event.inputs:
            step = _sent(provenance_of(operand.value))
            if step is None or id(step.node) not in self._chosen:
                continue
            name = code_of(event.module.node)
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

    def finish(self, told: frozenset[int]) -> Iterator[Draft]:
        """``told``: the nodes that another part of the rule speaks of."""
        seen = set(told)
        for model, draft in self._drafts:
            if model not in self._moved and id(draft.node) not in seen:
                seen.add(id(draft.node))
                yield draft


def _sent(provenance: Provenance | None) -> Step | None:
    """The transfer that a value comes from as it is; what a model made of it is that model's affair."""
    step = provenance.step if provenance is not None else None
    return step if step is not None and step.kind is StepKind.MOVED else None
