"""Where methods use a device that is stored on `self`, and which operations the tensors placed by it come to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import code_of, device_of
from devlint.placement.domain.abstract_values import Argument, Container, DeviceName, Opaque, Tensor, Value
from devlint.placement.domain.lattice import is_of_module
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.records import dataclass

if TYPE_CHECKING:
    from devlint.placement.domain.events import Called, Created, MismatchOperand, Moved, UndecidedMismatch


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A tensor made or moved by a stored device. ``attribute`` is the attribute's name."""

    attribute: str
    event: Created | Moved
    makes: bool


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """Where such a tensor meets what moves with the module; ``callee`` is the attribute that is called, if one is."""

    use: Use
    event: UndecidedMismatch | Called
    callee: str = ""


class StoredDeviceUses:
    """The uses of stored devices in one file, as its events come in. Constructors use them before the module moves."""

    def __init__(self) -> None:
        self._by_call: dict[int, Use] = {}
        """By the identity of the call that makes or moves a tensor."""
        self._by_class: dict[str, list[Use]] = {}
        self._meetings: dict[str, list[Meeting]] = {}

    def note(self, event: Created | Moved, named: Argument | None, *, makes: bool) -> None:
        """A tensor is made or moved by the device argument ``named``."""
        if named is None or event.scope.class_name is None or event.scope.setting is Setting.CONSTRUCTION:
            return
        owner, _, attribute = code_of(named.node).rpartition(".")
        if owner == "self" and isinstance(named.value, DeviceName):
            use = Use(attribute, event, makes)
            self._by_call[id(event.node)] = use
            self._by_class.setdefault(event.scope.class_name, []).append(use)

    def note_operation(self, event: UndecidedMismatch) -> None:
        """An operation joins what a stored device placed and what moves with the module."""
        uses = [use for operand in event.operands if (use := self.placing(operand.value)) is not None]
        moves_with_module = any(_moves_with_module(operand) for operand in event.operands)
        if uses and moves_with_module and event.scope.class_name is not None:
            self._meetings.setdefault(event.scope.class_name, []).append(Meeting(uses[0], event))

    def note_call(self, event: Called) -> None:
        """A submodule gets what a stored device placed."""
        name = event.scope.class_name
        if not self._by_call or name is None:
            return
        owner, _, callee = code_of(event.call.node.func).rpartition(".")
        if owner != "self":
            return
        for argument in event.call.arguments:
            for value in argument.value.items if isinstance(argument.value, Container) else (argument.value,):
                use = self.placing(value)
                if use is not None:
                    self._meetings.setdefault(name, []).append(Meeting(use, event, callee))

    def placing(self, value: Value) -> Use | None:
        """The use of a stored device that decided where the value is; None if something else did."""
        if not isinstance(value, (Tensor, Opaque)):
            return None
        for step in provenance_of(value) or ():
            if step.kind in (StepKind.MADE, StepKind.MOVED, StepKind.UNWRAPPED):
                return self._by_call.get(id(step.node))
        return None

    def of(self, class_name: str, attribute: str) -> list[Use]:
        """The uses of one attribute by the methods of one class."""
        return [use for use in self._by_class.get(class_name, ()) if use.attribute == attribute]

    def meetings_of(self, class_name: str, attribute: str) -> list[Meeting]:
        """Where the tensors that one attribute placed meet what moves with the module."""
        return [meeting for meeting in self._meetings.get(class_name, ()) if meeting.use.attribute == attribute]


def _moves_with_module(operand: MismatchOperand) -> bool:
    return is_of_module(device_of(operand.value))
