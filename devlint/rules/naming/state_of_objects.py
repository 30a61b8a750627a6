"""Tensors that an object, but for a Module, puts on the current accelerator while it is built: part of DEV302.

A method meets them with what its caller hands over. Nothing moves such an object afterwards, and nothing says where it
works: the tensors that come in say where the caller does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step, provenance_of
from devlint.drafts.wording import quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import DeviceName, Truth
from devlint.placement.domain.lattice import is_device_by_name, is_of_parameter
from devlint.placement.domain.provenance import placing_step
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.rules.current_device import is_current
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.events import MismatchOperand, Moved, Stored, Tested, UndecidedMismatch
    from devlint.placement.domain.provenance import Step
    from devlint.placement.domain.scope import Scope

_IN_USE = frozenset({Setting.METHOD, Setting.FORWARD})


@dataclass(frozen=True, slots=True, eq=False)
class _Meeting:
    placed: Step
    other: MismatchOperand
    event: UndecidedMismatch


@dataclass(slots=True)
class StateOfObjects:
    """The meetings of such tensors with those of callers, in the methods of one file."""

    _met: dict[str, _Meeting] = field(default_factory=dict)
    """By class: the first one."""
    _placing: set[str | None] = field(default_factory=set)
    """Classes of which a method brings something to the accelerator as well, or that keep the device they are on."""
    _asking: set[Scope] = field(default_factory=set)
    """Methods that test for a device."""

    def tested(self, event: Tested) -> None:
        if isinstance(event.value, Truth) and event.value.about_device:
            self._asking.add(event.scope)

    def stored(self, event: Stored) -> None:
        if event.target.startswith("self.") and isinstance(event.value, DeviceName):
            self._placing.add(event.scope.class_name)

    def moved(self, event: Moved) -> None:
        if event.scope.setting is not Setting.CONSTRUCTION and event.moves and is_current(event.target):
            self._placing.add(event.scope.class_name)

    def undecided_mismatch(self, event: UndecidedMismatch) -> None:
        owner = event.scope.class_name
        if owner is None or event.scope.setting not in _IN_USE or is_named_for_accelerator(event.scope.qualname):
            return
        other = next((one for one in event.operands if is_of_the_caller(one.value)), None)
        for mine in event.operands if other is not None else ():
            found = _kept(mine.value)
            if found is not None and other is not None and event.scope not in self._asking:
                self._met.setdefault(owner, _Meeting(found, other, event))

    def drafts(self) -> Iterator[Draft]:
        for owner, met in self._met.items():
            if owner in self._placing:
                continue
            named = quoted(met.other.node, "the other")
            yield Draft(
                node=met.placed.node,
                scope=met.placed.scope,
                message=f"{quoted(met.placed.node, 'this')} is the current device of whoever builds it, or none; "
                f"{named} comes from the caller, and says where that works",
                confidence=Confidence.MEDIUM if met.event.scope.role is Role.LIBRARY else Confidence.LOW,
                trace=(draft_step(met.placed), DraftStep(met.event.node, met.event.scope, "they meet here")),
                repair=Repair(Applicability.SUGGESTION, f"bring it to the device of {named} where they meet"),
            )


def is_of_the_caller(value: Value) -> bool:
    """Whether it is a tensor that is where the caller of the method put it, or is computed of one."""
    device = getattr(value, "device", None)
    return is_of_parameter(device) and not is_device_by_name(device) and provenance_of(value) is not None


def _kept(value: Value) -> Step | None:
    """Where a constructor put a tensor on the current accelerator, if nothing moved it since."""
    device = getattr(value, "device", None)
    if device is None or not is_current(device):
        return None
    placed = placing_step(provenance_of(value))
    return placed if placed is not None and placed.scope.setting is Setting.CONSTRUCTION else None
