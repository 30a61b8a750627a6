"""Plain tensors that a constructor puts on the machine's accelerator, wherever the module goes: part of DEV501."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import device_of
from devlint.placement.domain.abstract_values import Kind, Module, Self, Tensor
from devlint.placement.domain.class_facts import is_registered
from devlint.placement.domain.lattice import is_of_module
from devlint.placement.domain.provenance import Step, StepKind
from devlint.placement.domain.scope import Setting
from devlint.rules.current_device import is_current
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.events import Called, ClassCompleted, MismatchOperand, Moved, UndecidedMismatch


class KeptOnChosen:
    """The meetings, in a ``forward``, of such tensors with what moves with the module."""

    def __init__(self) -> None:
        self._placed: set[str] = set()
        """Classes that go to the accelerator as a whole, or bring there what they are given."""
        self._met: dict[int, tuple[Step, MismatchOperand, UndecidedMismatch]] = {}
        """By the store."""

    def moved(self, event: Moved) -> None:
        if event.scope.class_name is None or not event.moves or not is_current(event.target):
            return
        if event.scope.setting is not Setting.CONSTRUCTION or isinstance(event.receiver, Module):
            self._placed.add(event.scope.class_name)

    def called(self, event: Called) -> None:
        if event.name in (".to", ".cuda") and isinstance(event.receiver, Self) and event.scope.class_name is not None:
            self._placed.add(event.scope.class_name)

    def undecided_mismatch(self, event: UndecidedMismatch) -> None:
        if event.scope.setting is not Setting.FORWARD or event.scope.role is not Role.LIBRARY:
            return
        other = next((one for one in event.operands if _follows_module(one.value)), None)
        for mine in event.operands:
            step = _kept(mine.value)
            if step is not None and other is not None:
                self._met.setdefault(id(step.node), (step, other, event))

    def class_completed(self, event: ClassCompleted) -> None:
        values = (fact.value for fact in event.facts.attributes.values())
        registered = (device_of(value) for value in values if is_registered(value))
        if any(device is not None and is_current(device) for device in registered):
            self._placed.add(event.facts.info.qualname)

    def finish(self) -> Iterable[tuple[Step, MismatchOperand, UndecidedMismatch]]:
        return [met for met in self._met.values() if met[0].scope.class_name not in self._placed]


def _kept(value: Value) -> Step | None:
    """The store of a plain tensor that the constructor put on the current accelerator, and that nothing moved since."""
    provenance = provenance_of(value)
    if not isinstance(value, Tensor) or provenance is None or not is_current(value.device):
        return None
    if value.kind is not Kind.PLAIN or provenance.find(StepKind.UNWRAPPED) is not None:
        return None  # what was a parameter before it was moved is DEV202's, and so is what is computed of it
    for step in provenance:
        if step.kind is StepKind.MOVED:
            return None
        if step.kind is StepKind.STORED:
            return step if step.scope.setting is Setting.CONSTRUCTION else None
    return None


def _follows_module(value: Value) -> bool:
    return is_of_module(device_of(value))
