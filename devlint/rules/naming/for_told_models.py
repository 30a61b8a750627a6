"""Inputs that go to the current accelerator, for a model that its owner brought where it was told: part of DEV302.

The constructor brings the model to `device`, or to what the machine has, and another method sends its inputs to `cuda`.
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
from devlint.placement.domain.lattice import UNKNOWN, is_device_by_name, is_of_parameter
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import is_named_for_accelerator, speaks_of_devices
from devlint.rules.current_device import goes_to_current
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Moved, ToldModuleCalled
    from devlint.placement.domain.lattice import Decided, Device
    from devlint.placement.domain.provenance import Step

_ASKS_THE_MACHINE = frozenset({"torch.cuda.is_available()"})


@dataclass(slots=True)
class ForToldModels:
    """The calls of such models in one file, with inputs that were sent to the accelerator by name."""

    _sent: dict[int, bool] = field(default_factory=dict)
    """Transfers to it, by the identity of their nodes: whether the machine is asked before."""
    _by_machine: set[int] = field(default_factory=set)
    """Transfers to what the machine has, by the identity of their nodes."""
    _drafts: list[Draft] = field(default_factory=list)

    def moved(self, event: Moved) -> None:
        asked = [arm for arm in event.arms if speaks_of_devices(arm.guard.text)]
        of_the_machine = bool(asked) and all(arm.guard.text in _ASKS_THE_MACHINE for arm in asked)
        if goes_to_current(event) and (of_the_machine or not (asked or event.guarded)):
            self._sent[id(event.node)] = of_the_machine
        named = event.named.value if event.named is not None else None
        if isinstance(named, DeviceName) and named.chosen_by_probe and not event.arms:
            self._by_machine.add(id(event.node))

    def called(self, event: ToldModuleCalled) -> None:
        scope, module = event.scope, event.module.value
        if scope.setting is Setting.MODULE_LEVEL or is_named_for_accelerator(scope.qualname) or _asks(event.arms):
            return
        brought = provenance_of(module)
        place = brought.find(StepKind.MOVED) if brought is not None else None
        told = _is_told(getattr(module, "device", UNKNOWN), place)
        if place is None or not (told or id(place.node) in self._by_machine):
            return
        for operand in event.inputs:
            provenance = provenance_of(operand.value)
            step = provenance.step if provenance is not None else None
            asked = self._sent.get(id(step.node)) if step is not None and step.kind is StepKind.MOVED else None
            # Whoever asks the machine gets what a device that it chose gets.
            if step is not None and asked is not None and step.scope == scope and (told or not asked):
                self._drafts.append(_draft(event, step.node, place, told))
                return

    def drafts(self) -> Iterator[Draft]:
        yield from self._drafts


def _asks(arms: tuple[Decided, ...]) -> bool:
    return any(speaks_of_devices(arm.guard.text) and arm.guard.text not in _ASKS_THE_MACHINE for arm in arms)


def _is_told(device: Device, place: Step | None) -> bool:
    """Whether an argument names it: ``device``, ``args.device``, or ``self.device`` out of a dict of options."""
    import libcst as cst

    if not is_of_parameter(device):
        return False
    call = place.node if place is not None else None
    named = code_of(call.args[0].value) if isinstance(call, cst.Call) and call.args else ""
    return is_device_by_name(device) or named == "self.device" or named.rstrip("\"']").endswith("device")


def _draft(event: ToldModuleCalled, node: cst.CSTNode, place: Step, told: bool) -> Draft:
    name = code_of(event.module.node)
    where = "where its owner was told" if told else "on the CPU where the machine has no CUDA"
    return Draft(
        node=node,
        scope=event.scope,
        message=f"{quoted(node, 'the input')} goes to the current CUDA device in any case, and `{name}`, which it is "
        f"handed to, is {where}",
        confidence=Confidence.LOW if event.scope.role in (Role.TEST, Role.BENCHMARK) else Confidence.MEDIUM,
        trace=(
            DraftStep(place.node, place.scope, f"`{name}` is brought there here"),
            DraftStep(event.node, event.scope, "they meet here"),
        ),
        repair=Repair(Applicability.SUGGESTION, f"send it where `{name}` is"),
    )
