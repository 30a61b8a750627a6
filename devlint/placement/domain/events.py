"""The events that an evaluation emits, in evaluation order. Rules read nothing else.

Every event has its node and the scope of its definition. Events are emitted once per definition, from the last round of
its evaluation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Argument, DeviceName, Module, Opaque, Tensor, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import Decided, Device
from devlint.placement.domain.provenance import Step
from devlint.placement.domain.scope import Scope
from devlint.records import dataclass
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
    """The evaluation of a definition begins: ``arguments`` are its parameters' values, ``owner`` a method's class."""

    arguments: tuple[tuple[str, Value], ...]
    owner: ClassInfo | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ParameterIgnored(Event):
    """A device parameter that the body never reads; ``overwritten`` is the assignment that replaces it, if any."""

    name: str
    definition: cst.CSTNode
    overwritten: cst.CSTNode | None = None
    kept_absent: cst.CSTNode | None = None
    """The one assignment of it, which only its being None leads to."""


@dataclass(frozen=True, slots=True, eq=False)
class CallRefused(Event):
    """An expression that raises whatever the device, and that each call of the definition evaluates."""


@dataclass(frozen=True, slots=True, eq=False)
class DeviceMisplaced(Event):
    """A device is the positional argument of ``taken``; ``wanted``, which takes a device, keeps its default."""

    call: cst.Call
    callee: str
    taken: cst.Param
    wanted: cst.Param
    declared_in: Scope


@dataclass(frozen=True, slots=True, eq=False)
class ParameterOnlyMaps(Event):
    """A device parameter says where a file is read, and nothing else; ``node`` loads the state into ``module``.

    ``load_state_dict`` copies: the module stays where it was made, and is given back from there.
    """

    name: str
    module: str
    parameter: cst.Param


@dataclass(frozen=True, slots=True, eq=False)
class ParameterLeftOut(Event):
    """A call of a definition that takes the device parameter ``name`` too, and is not told what the caller said."""

    name: str
    definition: cst.CSTNode
    recursive: bool
    """The definition calls itself, on parts of what it was given; otherwise the call is all that its body does."""


@dataclass(frozen=True, slots=True, eq=False)
class DeviceTold(Event):
    """A call of a function of the project that takes a device, or a switch, and works on the CPU if it is told none."""

    callee: int
    """The identity of the function."""
    function: str
    parameter: str
    given: cst.BaseExpression | None
    """None where the call leaves the parameter out."""


@dataclass(frozen=True, slots=True, eq=False)
class LeftToAccelerator(Event):
    """A call of a function of the project leaves a device to a default that names an accelerator."""

    function: str
    parameter: str
    default: str
    at_hand: str
    """What says the device of the caller, in the source's words: ``device``, ``self.device``, ``args.device``."""
    around: cst.CSTNode
    """The definition that the call stands in, or the file."""
    raises: bool
    """On a machine without that accelerator the call itself raises, whatever becomes of what it gives."""


@dataclass(frozen=True, slots=True, eq=False)
class RequestDropped(Event):
    """``asked or "cuda" if torch.cuda.is_available() else "cpu"``: where the test fails, ``asked`` has no effect."""

    asked: cst.BaseExpression


@dataclass(frozen=True, slots=True, eq=False)
class LeftToAnother(Event):
    """``"cuda" if torch.cuda.is_available() else "mps"``: where there is no CUDA, another accelerator is taken for
    granted. ``node`` is the literal that names it.
    """

    kind: str
    arms: tuple[Decided, ...] = ()
    """The conditions under which the choice is made."""


@dataclass(frozen=True, slots=True, eq=False)
class ArmsAlike(Event):
    """``if use_cuda: x = x.cuda() else: x = x.cuda()``: both arms of a question about devices go to the accelerator.

    ``node`` is where the arm does so that is for machines, or runs, without one.
    """

    test: cst.BaseExpression


@dataclass(frozen=True, slots=True, eq=False)
class Defaulted(Event):
    """A default argument names a device; it is evaluated once, with the definition."""

    parameter: str
    value: DeviceName


@dataclass(frozen=True, slots=True, eq=False)
class GlobalRead(Event):
    """A definition reads a device that was set at module level, or a tensor that was put on an accelerator there."""

    name: str
    value: DeviceName | Tensor
    imported: bool = False
    """Another file of the project sets it: ``from settings import device``, ``settings.device``."""


@dataclass(frozen=True, slots=True, eq=False)
class Created(Event):
    """A factory created a tensor. ``named``: the device argument, if one was given."""

    factory: Factory
    call: CallSite
    value: Value
    named: Argument | None = None
    in_context: bool = False
    """A device context or default other than the CPU was in force."""
    imported: bool = False
    """The file imports the factory by its own name: `from torch.cuda import FloatTensor`."""


class Fate:
    """How the result of a call is used."""

    USED = "used"
    DISCARDED = "discarded"
    """The call is an expression statement."""
    UNREAD = "unread"
    """Assigned to a local name that is never read."""
    REBOUND = "rebound"
    """Assigned to a loop's variable, and not read before the loop binds that again."""


@dataclass(frozen=True, slots=True, eq=False)
class Moved(Event):
    """A transfer method was called: ``.to``, ``.cuda``, ``.cpu``, ``.pin_memory``, ``.type_as`` ...

    ``receiver_node`` is the expression before the dot. ``target`` is the target device (UNKNOWN if only a dtype is
    given: then ``moves`` is False). ``named`` is the argument that names the device.
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
    """The conditions under which the event happens."""
    guarded: bool = False
    """A condition about devices decides whether it runs."""
    is_field: bool = False
    """It was read from an argument that is an object of its own: a graph, an encoding."""


@dataclass(frozen=True, slots=True, eq=False)
class MismatchOperand:
    """One operand of a device check: its parameter name, value and node."""

    role: str
    value: Value
    node: cst.CSTNode


@dataclass(frozen=True, slots=True, eq=False)
class DeviceMismatch(Event):
    """Operands on devices that the operation does not accept.

    ``offending`` is the operand to move, ``other`` the operand it disagrees with. ``callee`` is "operation", "module"
    (a Module was called) or "loss".
    """

    operation: Operation
    operands: tuple[MismatchOperand, ...]
    clash: Clash[Device]
    offending: MismatchOperand
    other: MismatchOperand
    callee: str = "operation"
    callee_node: cst.BaseExpression | None = None
    assumed: bool = False
    """How the callee is stored and called indicates a Module; its class is not known."""
    arms: tuple[Decided, ...] = ()
    """The conditions it stands under."""
    calls: tuple[tuple[cst.CSTNode, Scope], ...] = ()
    """The calls, outermost first, that hand the operand to the definition of ``scope``, each with where it is."""
    placed_by_callers: bool = False
    """All call sites are known, and each passes what its own caller placed."""
    callers_on_cpu: bool = False
    """The calls in this file pass the parameter CPU tensors, or, if they are all, nothing known to be elsewhere."""
    if_brought: bool = False
    """It is one where some call brings the argument to a device: a module that an object keeps is on the CPU."""
    callers_on_model: bool = False
    """Some call in this file passes the parameter what is where a module works, or was brought to a device."""
    brings_to_host: bool = False
    """The definition moves something else of the argument to the CPU that an operand comes from."""

    @property
    def caller(self) -> Scope | None:
        """The definition whose call passes the offending operand to the definition of ``scope``."""
        return self.calls[0][1] if self.calls else None

    @property
    def left_behind(self) -> tuple[tuple[MismatchOperand, MismatchOperand], ...]:
        """Each operand that may have stayed on the CPU by mistake, and the one that it meets.

        An argument that has to be on the CPU, and is there in one arm alone, has not: the other arm is the mistake.
        """
        if self.clash.other is None and self.offending.role in self.operation.cpu_arguments:
            return ()
        return ((self.offending, self.other), (self.other, self.offending))


@dataclass(frozen=True, slots=True, eq=False)
class UndecidedMismatch(Event):
    """Operands in a method of a Module: some are on the module's device, others on a device given otherwise.

    In a method of another class: some are kept by the object on an accelerator, others where the caller has them. In
    any definition: some were put on an accelerator there, others are where the caller has them.
    """

    operation: Operation
    operands: tuple[MismatchOperand, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PlainAttributeUsed(Event):
    """A tensor that another method stored on ``self`` as a plain attribute takes part in an operation.

    Emitted where the devices of the operands are no mismatch, as far as they are known.
    """

    operation: Operation
    operand: MismatchOperand
    store: cst.CSTNode
    """The store."""


@dataclass(frozen=True, slots=True, eq=False)
class SplitOperands(Event):
    """In a class that may be split over devices: its own parameter is combined with a submodule's output."""

    operation: Operation
    own: MismatchOperand
    other: MismatchOperand


@dataclass(frozen=True, slots=True, eq=False)
class ReadAnywhere(Event):
    """An operation accepts a tensor on any device and moves it itself."""

    value: Tensor | Opaque


@dataclass(frozen=True, slots=True, eq=False)
class IndexedFromHost(Event):
    """A tensor is indexed with a tensor on the CPU, which PyTorch copies to the tensor's device."""

    value: Tensor | Opaque
    index: MismatchOperand


@dataclass(frozen=True, slots=True, eq=False)
class Called(Event):
    """A call whose callee has a name. ``name`` is the qualified name (``torch.load``), or ``.name`` for methods."""

    name: str
    call: CallSite
    receiver: Value | None
    result: Value
    arms: tuple[Decided, ...] = ()
    """The conditions under which the event happens."""
    on_cpu: bool = False
    """Reachable only where nothing is on an accelerator."""
    left_out: str = ""
    """A parameter that is not given and that the callee hands to ``torch.load`` as ``map_location``."""
    guarded: bool = False
    """A condition about devices or the operand before it decides whether it happens, or a ``try`` catches its error."""


@dataclass(frozen=True, slots=True, eq=False)
class CallersModuleCalled(Event):
    """A module that a caller handed in, and that was not moved since, was called with tensors that were placed here.

    ``inputs`` are those on an accelerator, and the first one if it is on the CPU, or as a loader handed it out.
    ``left``: others that came with a batch, and stayed where it was while another input of the call was brought over.
    """

    module: MismatchOperand
    inputs: tuple[MismatchOperand, ...]
    left: tuple[MismatchOperand, ...] = ()
    arms: tuple[Decided, ...] = ()
    """The conditions under which the event happens."""
    brought: Module | Opaque | None = None
    """What some call in this file, on whatever way, gives for the module: one that was moved to another place."""
    if_brought: bool = False
    """It is an argument of unknown type, which a caller's value has to say is a module."""


@dataclass(frozen=True, slots=True, eq=False)
class ToldModuleCalled(Event):
    """A module that was brought where an argument says, `model.to(device)`, or to an accelerator, and inputs there."""

    module: MismatchOperand
    inputs: tuple[MismatchOperand, ...]
    arms: tuple[Decided, ...] = ()
    """The conditions under which the event happens."""


@dataclass(frozen=True, slots=True, eq=False)
class Stored(Event):
    """An assignment. ``target`` is the source text (``self.w``, ``os.environ['A']``), ``owner`` the object's value."""

    target: str
    value: Value
    owner: Value | None
    attribute: str | None
    """The attribute or constant key that is assigned; None for other targets."""
    value_node: cst.BaseExpression | None = None
    arms: tuple[Decided, ...] = ()
    """The conditions under which the event happens."""
    of_class: str = ""
    """The class in whose body the name is bound, by its qualified name; empty elsewhere."""
    callers_on_cpu: bool = False
    """All call sites are known, and each gives a CPU tensor for what is stored."""


@dataclass(frozen=True, slots=True, eq=False)
class WrittenByIndex(Event):
    """``x[mask] = v``: a tensor says which items of another tensor are assigned."""

    owner: Tensor | Opaque
    index: Tensor | Opaque
    callers_on_cpu: bool = False
    """All call sites are known, and each gives a CPU tensor for the index."""


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
    """A condition about devices decides whether it is reached."""
    settled_by_callers: bool = False
    """All call sites are known, and the device of the value makes no difference to them."""
    arms: tuple[Decided, ...] = ()
    """The conditions that decide whether it is reached."""


@dataclass(frozen=True, slots=True, eq=False)
class LoopEntered(Event):
    """The events up to the matching :class:`LoopLeft` happen in every iteration of the loop ``node``."""


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
    """Where a device name reaches torch."""

    DEVICE = "torch.device(...)"
    ARGUMENT = "device="
    TRANSFER = ".to()/.cuda()"
    SET_DEVICE = "set_device()"
    DEVICE_IDS = "device_ids="
    DEFAULT = "default argument"
    FALLBACK = "index of those who give none"
    OPTION = "command-line default"
    CONTEXT = "device context"
    DEVICE_TYPE = "device_type="
    MAP_LOCATION = "map_location="
    COMPARISON = "comparison"


@dataclass(frozen=True, slots=True, eq=False)
class DeviceNamed(Event):
    """A literal names a device. ``node`` is the literal; ``text`` its value (``cuda:1``; for an index ``1``)."""

    text: str
    sink: str
    name: DeviceName | None = None
    call: CallSite | None = None
    guarded: bool = False
    """Under a condition about accelerators, or one arm of a conditional on it."""
    arms: tuple[Decided, ...] = ()
    """The conditions under which the name reaches torch."""


@dataclass(frozen=True, slots=True, eq=False)
class RankAsIndex(Event):
    """The rank of this process among those of all machines is the index of an accelerator; ``rank``: its reading."""

    rank: Step
    sink: str
    in_text: bool
    """Inside of a string: the node is the whole of it."""
    arms: tuple[Decided, ...] = ()
    """The conditions under which the event happens."""


@dataclass(frozen=True, slots=True, eq=False)
class IndexAsDevice(Event):
    """The number of a tensor's accelerator, which is -1 for one on the CPU, is taken for its device."""

    name: DeviceName
    guarded: bool
    """A condition about devices decides whether it happens."""


@dataclass(frozen=True, slots=True, eq=False)
class Tested(Event):
    """A value was converted to bool (``if``, ``while``, ``not``, ``and``, conditional expression, assert)."""

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
    """The reader rejects accelerator tensors (numpy and libraries based on it)."""
    in_flight: bool = False
    """The value is a non-blocking copy to the host for which nothing has waited."""
    expression: cst.BaseExpression | None = None
    """The expression of the tensor."""
    arms: tuple[Decided, ...] = ()
    """The conditions under which the event happens."""
    callers_on_cpu: bool = False
    """All calls in this file, on whatever way, give a CPU tensor for what is read."""
    callers_on_model: bool = False
    """Some call in this file gives a tensor where a module of its own is, or that it has brought to a device."""
    handed_over: Called | None = None
    """A call in a method of a base class, which hands over what it has brought to a device."""
    calls: tuple[tuple[cst.CSTNode, Scope], ...] = ()
    """The calls that lead to the read from the function whose argument it reads, the outermost first."""
    argument: str = ""
    """The parameter of a function of torch which that wants on the CPU: the lengths of ``pack_padded_sequence``."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadInCallee(Event):
    """A call hands a tensor to a function which reads it by numpy, or hands it on where torch wants a CPU tensor.

    The node is the call. Reads by numpy are those of other files.
    """

    value: Tensor | Opaque
    """The tensor, or one of several."""
    device: Device
    read: HostRead
    """The read, as the function has it."""
    expression: cst.BaseExpression
    """The argument."""
    callee: str
    arms: tuple[Decided, ...] = ()
    """The conditions under which the call happens."""
    callers_on_cpu: bool = False
    """All calls of the definition in this file, on whatever way, give a CPU tensor for what is handed on."""

    @property
    def as_read_here(self) -> HostRead:
        """The read as if it stood in place of the argument: what is known of a tensor at hand is known of it there."""
        return HostRead(
            self.node,
            self.scope,
            self.read.reader,
            self.value,
            wants_cpu=True,
            expression=self.expression,
            arms=self.arms,
            callers_on_cpu=self.callers_on_cpu,
        )


@dataclass(frozen=True, slots=True, eq=False)
class StreamCrossed(Event):
    """A tensor computed on one stream is used on another, and nothing orders the two."""

    value: Tensor
    made_on: str
    read_on: str


@dataclass(frozen=True, slots=True, eq=False)
class ClassCompleted(Event):
    """All methods of a class have been evaluated; ``facts`` are its attributes."""

    facts: ClassFacts
