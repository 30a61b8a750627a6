"""What the walk reports, in the order in which it happens. Rules read these and nothing else.

Every event names the node it happened at and the definition it happened in. Events are emitted once for each
definition, from the last round of its walk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Argument, DeviceName, Opaque, Tensor, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import Decided, Device
from devlint.placement.domain.scope import Scope
from devlint.semantics import Clash, Factory, Operation

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.domain.class_facts import ClassFacts


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    node: cst.CSTNode
    scope: Scope


@dataclass(frozen=True, slots=True, eq=False)
class Begun(Event):
    """The walk of a definition begins. ``arguments`` is what its parameters hold, ``owner`` the class of a method."""

    arguments: tuple[tuple[str, Value], ...]
    owner: ClassInfo | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ParameterIgnored(Event):
    """A device parameter that the body never reads; ``overwritten`` is the assignment that replaces it, if one does."""

    name: str
    overwritten: cst.CSTNode | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Defaulted(Event):
    """A default argument names a device; it is evaluated once, where the definition stands."""

    parameter: str
    value: DeviceName


@dataclass(frozen=True, slots=True, eq=False)
class GlobalRead(Event):
    """A definition reads a device that the module chose."""

    name: str
    value: DeviceName


@dataclass(frozen=True, slots=True, eq=False)
class Created(Event):
    """A factory made a tensor. ``named``: the device argument, when one was given."""

    factory: Factory
    call: CallSite
    value: Value
    named: Argument | None = None
    in_context: bool = False
    """A device context or default other than the CPU was in force."""


class Fate:
    """What becomes of a transfer's result."""

    USED = "used"
    DISCARDED = "discarded"
    """The call is a statement."""
    UNREAD = "unread"
    """Assigned to a local name that nothing reads."""


@dataclass(frozen=True, slots=True, eq=False)
class Moved(Event):
    """A transfer method was called: ``.to``, ``.cuda``, ``.cpu``, ``.pin_memory``, ``.type_as`` ...

    ``receiver_node`` is the expression before the dot. ``target`` is where it goes (UNKNOWN when only a dtype is given:
    then ``moves`` is False). ``named`` is the argument that spells the device.
    """

    method: str
    receiver: Value
    receiver_node: cst.BaseExpression
    result: Value
    target: Device
    call: CallSite
    moves: bool = True
    named: Argument | None = None
    fate: str = Fate.USED
    receiver_text: str = ""
    arms: tuple[Decided, ...] = ()
    """The conditions it stands under."""
    guarded: bool = False
    """A test for a device decides whether it runs."""


@dataclass(frozen=True, slots=True, eq=False)
class MismatchOperand:
    """One operand of a meeting: its parameter name, value and place."""

    role: str
    value: Value
    node: cst.CSTNode


@dataclass(frozen=True, slots=True, eq=False)
class DeviceMismatch(Event):
    """Operands that cannot meet: ``stray`` is the one to bring over, ``other`` what it disagrees with.

    ``callee`` is "operation", "module" (a Module was called) or "loss".
    """

    operation: Operation
    operands: tuple[MismatchOperand, ...]
    clash: Clash[Device]
    offending: MismatchOperand
    other: MismatchOperand
    callee: str = "operation"
    callee_node: cst.BaseExpression | None = None
    assumed: bool = False
    """That the callee is a Module is read from how it is kept and called, not from its class."""
    callers_on_cpu: bool = False
    """The calls of the enclosing definition in this file hand it CPU tensors, or, where they are all that can be seen,
    nothing that is placed anywhere else; callers elsewhere may."""


@dataclass(frozen=True, slots=True, eq=False)
class UndecidedMismatch(Event):
    """Operands of a method of a Module: some are where the module is, others where it was told, and nothing more."""

    operation: Operation
    operands: tuple[MismatchOperand, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SplitOperands(Event):
    """In a class that may be spread over devices: a parameter of its own meets what a submodule handed back."""

    operation: Operation
    own: MismatchOperand
    other: MismatchOperand


@dataclass(frozen=True, slots=True, eq=False)
class ReadAnywhere(Event):
    """An operation reads a tensor wherever it is, and brings it over itself."""

    value: Tensor | Opaque


@dataclass(frozen=True, slots=True, eq=False)
class IndexedFromHost(Event):
    """A tensor is read with an index on the CPU, which PyTorch copies to the tensor's device."""

    value: Tensor | Opaque
    index: MismatchOperand


@dataclass(frozen=True, slots=True, eq=False)
class Called(Event):
    """Any call whose callee has a name. ``name`` is the qualified name (``torch.load``), or for methods ``.name``."""

    name: str
    call: CallSite
    receiver: Value | None
    result: Value
    arms: tuple[Decided, ...] = ()
    """The conditions it stands under."""
    on_cpu: bool = False
    """Reached only where nothing is on an accelerator."""


@dataclass(frozen=True, slots=True, eq=False)
class Stored(Event):
    """An assignment. ``target`` is the source text (``self.w``, ``os.environ['A']``), ``owner`` the object's value."""

    target: str
    value: Value
    owner: Value | None
    attribute: str | None
    """The attribute or constant key stored to, if that is what the target is."""
    value_node: cst.BaseExpression | None = None
    arms: tuple[Decided, ...] = ()
    """The conditions it stands under."""
    of_class: str = ""
    """The class in whose body the name is bound, by its qualified name."""


@dataclass(frozen=True, slots=True, eq=False)
class Loaded(Event):
    """An attribute of ``self`` was read."""

    attribute: str
    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class Returned(Event):
    value: Value
    value_node: cst.BaseExpression | None = None
    guarded: bool = False
    """A test for a device decides whether it is reached."""


@dataclass(frozen=True, slots=True, eq=False)
class LoopEntered(Event):
    """What follows happens in every iteration of the loop ``node``, up to its :class:`LoopLeft`."""


@dataclass(frozen=True, slots=True, eq=False)
class LoopLeft(Event):
    """The end of the body of the loop ``node``."""


@dataclass(frozen=True, slots=True, eq=False)
class Compared(Event):
    """One comparison. ``operator`` is ``==``, ``!=``, ``is``, ``is not``, ``in``, ``not in``, ``<`` ..."""

    left: Value
    left_node: cst.BaseExpression
    operator: str
    right: Value
    right_node: cst.BaseExpression


class Sink:
    """Where a device's spelling reaches torch."""

    DEVICE = "torch.device(...)"
    ARGUMENT = "device="
    TRANSFER = ".to()/.cuda()"
    SET_DEVICE = "set_device()"
    DEVICE_IDS = "device_ids="
    DEFAULT = "default argument"
    OPTION = "command-line default"
    CONTEXT = "device context"
    DEVICE_TYPE = "device_type="
    MAP_LOCATION = "map_location="
    COMPARISON = "comparison"


@dataclass(frozen=True, slots=True, eq=False)
class DeviceNamed(Event):
    """A literal names a device. ``node`` is the literal; ``text`` what it says (``cuda:1``; for an index ``1``)."""

    text: str
    sink: str
    name: DeviceName | None = None
    call: CallSite | None = None
    guarded: bool = False
    """Under a test for an accelerator, or one arm of such a choice."""
    arms: tuple[Decided, ...] = ()
    """The conditions under which the name reaches torch."""


@dataclass(frozen=True, slots=True, eq=False)
class Tested(Event):
    """A value was used as a truth value (``if``, ``while``, ``not``, ``and``, conditional expression, assert)."""

    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class Entered(Event):
    """A context manager was entered."""

    value: Value


@dataclass(frozen=True, slots=True, eq=False)
class HostRead(Event):
    """A tensor's data was read on the host: ``.numpy()``, ``np.f(t)``, ``.item()``, ``print(t)``, ``.tolist()``."""

    reader: str
    value: Tensor | Opaque
    wants_cpu: bool = False
    """The reader refuses accelerator tensors (numpy and what is built on it)."""
    in_flight: bool = False
    """The value is a non-blocking copy to the host that nothing has waited for."""
    expression: cst.BaseExpression | None = None
    """The tensor's own expression."""
    arms: tuple[Decided, ...] = ()
    """The conditions it stands under."""


@dataclass(frozen=True, slots=True, eq=False)
class StreamCrossed(Event):
    """A tensor computed on one stream is used on another and nothing orders the two."""

    value: Tensor
    made_on: str
    read_on: str


@dataclass(frozen=True, slots=True, eq=False)
class ClassCompleted(Event):
    """All methods of a class have been walked; ``facts`` is what its attributes are."""

    facts: ClassFacts
