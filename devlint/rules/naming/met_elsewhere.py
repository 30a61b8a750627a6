"""What goes to the current accelerator, and meets in another definition what is not sent there: part of DEV302.

The constructor brings its tensors to `device`, and `rows.cuda() * self.scale` stands in another method. A helper makes
a window on the accelerator, and the function that calls it filters an image with it that it is handed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Opaque, Tensor
from devlint.placement.domain.lattice import is_device_by_name, is_of_module, is_of_parameter
from devlint.placement.domain.provenance import placing_step
from devlint.placement.domain.scope import Setting
from devlint.placement.operations.device_check import placed_by_helper
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.rules.current_device import is_current
from devlint.rules.naming.state_of_objects import is_of_the_caller
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.events import MismatchOperand, Moved, UndecidedMismatch
    from devlint.placement.domain.scope import Scope
    from devlint.rules.naming.accelerator_places import Definition, Place


@dataclass(frozen=True, slots=True)
class _Meeting:
    event: UndecidedMismatch
    other: MismatchOperand
    where: str
    """Where the other is, and why that may be elsewhere."""
    is_told: bool
    """That is where its object was told, and not where a caller or a module has it."""


@dataclass(slots=True)
class MetElsewhere:
    _met: dict[int, _Meeting] = field(default_factory=dict)
    """By what puts a value on the accelerator."""
    _going_there: set[Scope] = field(default_factory=set)
    """Definitions that bring something to the accelerator themselves."""

    def moved(self, event: Moved) -> None:
        if event.moves and is_current(event.target):
            self._going_there.add(event.scope)

    def undecided_mismatch(self, event: UndecidedMismatch) -> None:
        if is_named_for_accelerator(event.scope.qualname):
            return
        owner = event.scope.class_name
        kept = next((one for one in event.operands if _is_kept_where_told(one.value)), None) if owner else None
        other = next((one for one in event.operands if is_of_the_caller(one.value)), None)
        where = f"the caller of `{event.scope.qualname.rpartition('.')[2]}` works"
        if other is None:
            other = next((one for one in event.operands if is_of_module(getattr(one.value, "device", None))), None)
            where = "its module is"
        for one in event.operands:
            placed, device = placing_step(provenance_of(one.value)), getattr(one.value, "device", None)
            if placed is None or device is None or not is_current(device):
                continue
            if kept is not None and placed.scope.class_name == owner:
                self._met.setdefault(id(placed.node), _Meeting(event, kept, "its object was told", is_told=True))
            elif other is not None and placed_by_helper(event.scope, one.value) is not None:
                self._met.setdefault(id(placed.node), _Meeting(event, other, where, is_told=False))

    def draft_of(self, definition: Definition, place: Place) -> Draft | None:
        made: cst.CSTNode | None = place.move.node if place.move is not None else place.call
        met = self._met.get(id(made))
        decided = place.is_decided
        if met is None or decided or definition.tests_device or place.scope.role in (Role.TEST, Role.BENCHMARK):
            return None
        if place.scope.setting is Setting.CONSTRUCTION:
            return None  # it has the device at hand, which is another finding
        if not met.is_told and (met.event.scope in self._going_there or place.scope.role is not Role.LIBRARY):
            return None  # it is the place that chooses
        named = quoted(met.other.node, "what it meets")
        return Draft(
            node=place.node,
            scope=place.scope,
            message=f"{quoted(place.node, f'`{place.text}`')} is the current CUDA device or none at all, and {named}, "
            f"which it meets, is where {met.where}",
            confidence=Confidence.MEDIUM,
            trace=(DraftStep(met.event.node, met.event.scope, "they meet here"),),
            repair=Repair(Applicability.SUGGESTION, f"bring it where {named} is"),
        )


def _is_kept_where_told(value: Value) -> bool:
    """Whether a tensor is on the device that its object's constructor was handed: ``self.scale``."""
    device = value.device if isinstance(value, (Tensor, Opaque)) else None
    return is_of_parameter(device) and is_device_by_name(device) and ".__init__:" in device.symbol.key
