"""What an expression evaluates to, as far as placement needs it. Plain frozen data; trees only by reference."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.placement.domain.lattice import UNKNOWN, Device
from devlint.placement.domain.provenance import Provenance
from devlint.semantics import Dim, DType, Elements

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo


class Kind(Enum):
    """What sort of tensor: it decides what a transfer's result means."""

    PLAIN = "plain"
    PARAMETER = "parameter"
    BUFFER = "buffer"
    PACKED = "packed"
    UNWRAPPED = "unwrapped"
    """A Parameter after a transfer: a plain non-leaf tensor."""


class Evidence(Enum):
    """Why a value counts as a tensor."""

    CERTAIN = "certain"
    """Made by torch, annotated, or used as only a tensor can be."""
    LIKELY = "likely"
    """By convention: ``forward``'s inputs, a module's output."""


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
    """Synchronisation epoch of a ``non_blocking=True`` copy to the host that made this value."""
    stream: str | None = None
    """The side stream it was computed on; empty for the default stream, None where that is not known."""
    computed_at: int = 0
    """Stream epoch at which it was computed."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something of unknown type whose tensors are all on ``device``: a module's output, a batch, an argument.

    Attributes, items and method results of it stay with it. It takes part in a meeting only where a tensor must stand.
    """

    device: Device
    provenance: Provenance | None = field(default=None, compare=False)
    tensorlike: bool = False
    """Seen used as a tensor somewhere in the function."""
    stream: str | None = field(default=None, compare=False)
    computed_at: int = field(default=0, compare=False)
    """As of a Tensor."""
    fields: frozenset[str] = field(default=frozenset(), compare=False)
    """Names of its fields that are tensors by its class; ``[]`` for all that is kept under a string key."""
    info: ClassInfo | None = field(default=None, compare=False)
    """Its class, where an annotation names one of the project."""
    moved: bool = field(default=False, compare=False)
    """A transfer gave it: what takes part in arithmetic afterwards is a tensor."""


@dataclass(frozen=True, slots=True)
class Module:
    """An ``nn.Module`` instance. ``type_name`` is its qualified class (``torch.nn.Linear``) or ""."""

    device: Device
    type_name: str = ""
    info: ClassInfo | None = field(default=None, compare=False)
    provenance: Provenance | None = field(default=None, compare=False)
    children: tuple[Value, ...] = field(default=(), compare=False)
    """For containers and wrappers: the modules handed in."""
    holds_state: bool | None = None
    """Whether it has parameters or buffers, by the table or by its class; None where that is not known."""
    assumed: bool = False
    """Its class is not known; that it is a Module is read from how it is kept and called."""

    @property
    def stateless(self) -> bool:
        return self.holds_state is False


@dataclass(frozen=True, slots=True)
class DeviceName:
    """A ``torch.device``, or a string or index on its way to being one. ``node`` is where it was spelled."""

    device: Device
    node: cst.CSTNode | None = field(default=None, compare=False)
    text: str = ""
    chosen_by_probe: bool = False
    """Came out of an availability test."""
    of_tensor: bool = False
    """Read from a tensor's own ``.device``, which always carries an index on an accelerator."""
    is_type: bool = False
    """``device.type``: only the type's string."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A Python literal."""

    value: object
    node: cst.CSTNode | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Host:
    """A plain Python or host value that is not a tensor: a size, a number, a path. ``numpy``: an ndarray."""

    numpy: bool = False
    number: bool = False
    provenance: Provenance | None = field(default=None, compare=False)
    copied_at: int | None = None
    """Of an array that shares the memory of a tensor: as of the tensor."""


@dataclass(frozen=True, slots=True)
class Container:
    """A tuple, list, set or dict. ``keys`` is None for sequences; ``rest`` is what else may be inside."""

    items: tuple[Value, ...]
    keys: tuple[object, ...] | None = None
    rest: Value | None = None
    type: str = "list"
    node: cst.CSTNode | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class that is no Module: a class of this file, or a library's by name."""

    type_name: str
    info: ClassInfo | None = field(default=None, compare=False)
    device: Device = UNKNOWN
    """For streams, generators and the like: the device they were made for."""
    node: cst.CSTNode | None = field(default=None, compare=False)
    details: tuple[tuple[str, Value], ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Reference:
    """A dotted name outside the file: ``torch.nn.functional.relu``, ``numpy``, ``os.environ``."""

    name: str


@dataclass(frozen=True, slots=True)
class ProjectModule:
    """A module of this project: its file, or the directory of a package that has no ``__init__``."""

    file: Path


@dataclass(frozen=True, slots=True)
class Function:
    """A function of this project, with its receiver when bound."""

    info: FunctionInfo = field(compare=False)
    key: str = ""
    receiver: Value | None = field(default=None, compare=False)


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
class Truth:
    """A Python truth value about devices. ``known`` is its value in the world with an accelerator."""

    known: bool | None = None
    guard: str = ""
    about_device: bool = False


@dataclass(frozen=True, slots=True)
class Self:
    """``self`` inside a method."""

    info: ClassInfo = field(compare=False)
    key: str = ""


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """Anything. Not an operand of any meeting."""


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
    | Truth
    | Self
    | UnknownValue
)


def array_of(*values: Value) -> Host:
    """An array that is computed of these values. Its way is that of the first tensor, or array of one, among them."""
    provenances = (value.provenance for value in values if isinstance(value, (Tensor, Opaque, Host)))
    return Host(numpy=True, provenance=next((provenance for provenance in provenances if provenance is not None), None))


NOTHING = UnknownValue()
NONE = Constant(None)
