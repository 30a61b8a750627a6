"""Abstract values of expressions, as far as device inference needs them.

Frozen data; syntax trees by reference only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.placement.domain.lattice import UNKNOWN, Device
from devlint.placement.domain.provenance import Provenance, Step
from devlint.records import dataclass
from devlint.semantics import Dim, DType, Elements

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
    from devlint.placement.domain.scope import Scope


class Kind(Enum):
    """The kind of a tensor; it determines the result of a transfer."""

    PLAIN = "plain"
    PARAMETER = "parameter"
    BUFFER = "buffer"
    PACKED = "packed"
    UNWRAPPED = "unwrapped"
    """A Parameter after a transfer: a plain non-leaf tensor."""


class Evidence(Enum):
    """Why a value counts as a tensor."""

    CERTAIN = "certain"
    """Created by torch, annotated as a tensor, or used as only a tensor can be."""
    LIKELY = "likely"
    """By convention: an input of ``forward``, the output of a module."""


@dataclass(frozen=True, slots=True)
class Tensor:
    device: Device
    dim: Dim = Dim.UNKNOWN
    elements: Elements = Elements.UNKNOWN
    dtype: DType = DType.UNKNOWN
    kind: Kind = Kind.PLAIN
    evidence: Evidence = Evidence.CERTAIN
    provenance: Provenance | None = field(default=None, compare=False)
    pinned: bool = False
    copied_at: int | None = None
    """For the result of a ``non_blocking=True`` copy to the host: the synchronisation epoch of the copy."""
    stream: str | None = None
    """The side stream it was computed on; empty for the default stream, None if not known."""
    computed_at: int = 0
    """The stream epoch in which it was computed."""
    least_dims: int = field(default=0, compare=False)
    """How many dimensions it has at least, as far as they are counted."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value of unknown type whose tensors are all on ``device``: a module's output, a batch, an argument.

    Its attributes, items and method results have the same device. It is an operand only where a tensor is required.
    """

    device: Device
    provenance: Provenance | None = field(default=None, compare=False)
    tensorlike: bool = False
    """Used as a tensor somewhere in the function."""
    stream: str | None = field(default=None, compare=False)
    computed_at: int = field(default=0, compare=False)
    """As in :class:`Tensor`."""
    fields: frozenset[str] = field(default=frozenset(), compare=False)
    """Names of the fields that its class declares as tensors; ``[]`` for all items under string keys."""
    info: ClassInfo | None = field(default=None, compare=False)
    """Its class, if an annotation names a class of the project."""
    moved: bool = field(default=False, compare=False)
    """The result of a transfer: if it is used in arithmetic, it is a tensor."""
    immovable: str = ""
    """The class, of a library, that an annotation or a test says it is of, if no object of it has transfers."""


def as_tensor(value: Opaque) -> Tensor:
    """The same value where something says that it is a tensor, without certainty: a use, a name, an annotation."""
    return Tensor(value.device, evidence=Evidence.LIKELY, provenance=value.provenance)


SCATTERS = "torch.nn.DataParallel"
"""The type of a wrapper that brings its inputs to the devices itself, whichever class of its kind it is."""


@dataclass(frozen=True, slots=True)
class Module:
    """An ``nn.Module`` instance. ``type_name`` is its qualified class (``torch.nn.Linear``) or ""."""

    device: Device
    type_name: str = ""
    info: ClassInfo | None = field(default=None, compare=False)
    provenance: Provenance | None = field(default=None, compare=False)
    children: tuple[Value, ...] = field(default=(), compare=False)
    """For containers and wrappers: the modules passed to the constructor."""
    holds_state: bool | None = None
    """Whether it has parameters or buffers, by the tables or by its class; None if not known."""
    assumed: bool = False
    """Its class is not known; how it is stored and called indicates a Module."""
    given: tuple[tuple[str, Value], ...] = field(default=(), compare=False)
    """The tensors on the CPU that its constructor was handed, by the keys of the parameters' symbols."""

    @property
    def stateless(self) -> bool:
        return self.holds_state is False


@dataclass(frozen=True, slots=True)
class DeviceName:
    """A ``torch.device``, or a string or index that may become one. ``node`` is the expression that spells it."""

    device: Device
    node: cst.CSTNode | None = field(default=None, compare=False)
    text: str = ""
    chosen_by_probe: bool = False
    """The result of an availability probe."""
    or_none: bool = field(default=False, compare=False)
    """And None where there is no accelerator."""
    of_tensor: bool = False
    """Read from a tensor's own ``.device``, which always carries an index on an accelerator."""
    is_type: bool = False
    """``device.type`` or ``tensor.type()``: a string of the type alone."""
    is_object: bool = False
    """What ``torch.device(...)`` made, which is no string."""
    by_convention: bool = field(default=False, compare=False)
    """Read from the ``.device`` of what is taken for a tensor by a convention."""
    provenance: Provenance | None = field(default=None, compare=False)
    """That of the tensor whose ``.device`` it is."""
    is_index: bool = field(default=False, compare=False)
    """``tensor.get_device()``: the number of its accelerator, and -1 where it is on the CPU."""
    rank: Step | None = field(default=None, compare=False)
    """Of a string that ends in the rank among the processes of all machines: where that is read."""


DEVICE_COUNT = "device_count"
"""The type of what ``torch.cuda.device_count()`` gives."""


PARAMETERS = "parameters"
"""The type of what ``module.parameters()`` gives.

The analysed module has some: without any it is nowhere, and there is nothing in it to be moved.
"""


def counted(value: Value) -> str:
    """What a number that is not 0, or a list that is not empty, is of; empty for all else.

    :data:`DEVICE_COUNT` for the machine's accelerators or their indices, :data:`PARAMETERS` for those of a module.
    """
    kind = value.type if isinstance(value, Container) else value.type_name if isinstance(value, Instance) else ""
    return kind if kind in (DEVICE_COUNT, PARAMETERS) else ""


@dataclass(frozen=True, slots=True)
class Constant:
    """A Python literal."""

    value: object
    node: cst.CSTNode | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Host:
    """A Python object on the host that is not a tensor: a size, a number, a dtype, a path. ``numpy``: an ndarray."""

    numpy: bool = False
    number: bool = False
    is_dtype: bool = False
    provenance: Provenance | None = field(default=None, compare=False)
    copied_at: int | None = None
    """Of an array that shares the memory of a tensor: as of the tensor."""
    rank: Step | None = field(default=None, compare=False)
    """Of the rank of this process among those of all machines: where it is read."""
    dims: int = field(default=0, compare=False)
    """Of an array that was made of a shape: how many dimensions it has; 0 where that is not known."""


@dataclass(frozen=True, slots=True)
class Container:
    """A tuple, list, set or dict. ``keys`` is None for sequences; ``rest`` is the join of items not listed."""

    items: tuple[Value, ...]
    keys: tuple[object, ...] | None = None
    rest: Value | None = None
    type: str = "list"
    node: cst.CSTNode | None = field(default=None, compare=False)

    @property
    def values(self) -> tuple[Value, ...]:
        """The items, and the join of those not listed."""
        return self.items if self.rest is None else (*self.items, self.rest)

    def with_each(self, change: Callable[[Value], Value]) -> Container:
        """The same container of what ``change`` makes of each item."""
        rest = None if self.rest is None else change(self.rest)
        return Container(tuple(map(change, self.items)), self.keys, rest, self.type, self.node)

    @property
    def innermost(self) -> Iterator[Value]:
        """The values in it and in the containers in it, but for these."""
        for value in self.values:
            if isinstance(value, Container):
                yield from value.innermost
            else:
                yield value


def innermost_of(value: Value) -> Iterable[Value]:
    """The values in a container and in those in it; of anything else the value itself."""
    return value.innermost if isinstance(value, Container) else (value,)


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class that is not a Module: a class of the project by its declaration, or a library's by name."""

    type_name: str
    info: ClassInfo | None = field(default=None, compare=False)
    device: Device = UNKNOWN
    """For streams, generators and the like: the device they were created for."""
    node: cst.CSTNode | None = field(default=None, compare=False)
    details: tuple[tuple[str, Value], ...] = field(default=(), compare=False)
    given: tuple[tuple[str, Value], ...] = field(default=(), compare=False)
    """The arguments of its constructor, by the keys of the parameters' symbols: those that are known."""
    untold: Scope | None = field(default=None, compare=False)
    """Where it was built, if that left the device of its constructor to a default that is the CPU."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A dotted name defined outside the project: ``torch.nn.functional.relu``, ``numpy``, ``os.environ``."""

    name: str
    note: str = field(default="", compare=False)
    """The convention by which it is that, in words: the default of a parameter."""


@dataclass(frozen=True, slots=True)
class ProjectModule:
    """A module of the project: its file, or the directory of a package without ``__init__``."""

    file: Path


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the project, with its receiver if bound."""

    info: FunctionInfo = field(compare=False)
    key: str = ""
    receiver: Value | None = field(default=None, compare=False)
    captured: Mapping[str, Value] | None = field(default=None, compare=False)
    """Of one that is defined in a walk for one call: the values of the definition around it."""


@dataclass(frozen=True, slots=True, eq=False)
class Argument:
    """One argument of a call; ``star`` is "", "*" or "**"."""

    value: Value
    node: cst.BaseExpression
    keyword: str | None = None
    star: str = ""


@dataclass(frozen=True, slots=True)
class Partial:
    """``functools.partial(callee, ...)``: a call with some of its arguments."""

    callee: Value
    arguments: tuple[Argument, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class ClassValue:
    info: ClassInfo = field(compare=False)
    key: str = ""


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several functions or classes: ``weight_norm if plain else spectral_norm``."""

    callees: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Truth:
    """A truth value about devices. ``known`` is its value in the analysed configuration."""

    known: bool | None = None
    guard: str = ""
    about_device: bool = False


@dataclass(frozen=True, slots=True)
class Self:
    """``self`` inside a method."""

    info: ClassInfo = field(compare=False)
    key: str = ""
    is_super: bool = field(default=False, compare=False)
    """It stands for ``super()``: ``info`` is the base whose methods are called."""


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """Any value. Never an operand in a device check."""

    bottom: bool = field(default=False, compare=False)
    """It adds nothing to what it is joined with: a test of its type has shown that it is no tensor, or it is what a
    recursion gives that has given nothing yet."""


Value = (
    Tensor
    | Opaque
    | Module
    | DeviceName
    | Constant
    | Host
    | Container
    | Instance
    | Reference
    | ProjectModule
    | Function
    | Partial
    | ClassValue
    | OneOf
    | Truth
    | Self
    | UnknownValue
)


def array_of(*values: Value) -> Host:
    """An array computed from these values. Its provenance is that of the first tensor or array of one."""
    provenances = (value.provenance for value in values if isinstance(value, (Tensor, Opaque, Host)))
    return Host(numpy=True, provenance=next((provenance for provenance in provenances if provenance is not None), None))


NOTHING = UnknownValue()
BOTTOM = UnknownValue(bottom=True)
NONE = Constant(None)
UNSET = DeviceName(UNKNOWN)
"""A device that is not known yet."""
