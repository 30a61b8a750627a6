"""The facts of the tables about one call: frozen data, read by both halves of devlint.

Every value comes from `tables/`; `tables/README.md` explains how each table is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal


class Rule(Enum):
    """How the devices of one call's tensors are checked. The names are those of the tables."""

    EXACT_SAME = "exact_same"
    """One device for all, no exception for 0-dim tensors (the check torchgen writes into the CUDA wrapper)."""
    TENSOR_ITERATOR = "tensor_iterator"
    """One device for all, but a single 0-dim CPU tensor may stand at the positions in `zero_dim`."""
    BROADCAST_FIRST = "broadcast_first"
    """As TENSOR_ITERATOR after expanding to one shape: a 0-dim tensor stays one only beside 0-dim tensors."""
    BROADCAST_WHERE = "broadcast_where"
    """As WHERE after expanding to one shape (`torch.masked`)."""
    OWN_CHECK = "own_check"
    """A check written by hand in the kernel: as strict as EXACT_SAME, but with an error text of its own."""
    ANY_DEVICE = "any_device"
    """Devices may differ freely (`copy_`, `expand_as`, `type_as`)."""
    INDEX_READ = "index_read"
    """`x[i]`: an index may be on the CPU or on x's device."""
    INDEX_WRITE = "index_write"
    """`x[i] = v`: indices anywhere, v on x's device or of one element."""
    INDEX_PUT = "index_put"
    """`x.index_put_((i,), v)`: as INDEX_WRITE, but to come from elsewhere v must be 0-dim."""
    WHERE = "where"
    """The first operand off the CPU determines the device; any number of 0-dim tensors is moved there."""
    MASKED_FILL = "masked_fill"
    """Self and mask on one device; the value is read with `item()`, so it may be on the CPU beside an accelerator."""
    CONV = "conv"
    """Input, weight and bias compared by tensor type, before any other check."""
    PAIRWISE = "pairwise"
    """`torch._foreach_*`: the i-th tensors of the lists meet each other."""
    UNKNOWN = "unknown"
    """The tables know the name, not its check. The judge answers Unclear."""


class Dim(Enum):
    """Whether `tensor.dim() == 0`. A tensor of shape (1,) is NONZERO."""

    ZERO = "zero"
    NONZERO = "nonzero"
    UNKNOWN = "unknown"


class Elements(Enum):
    """How many elements a tensor holds, as far as the rules care."""

    ONE = "one"
    MANY = "many"
    UNKNOWN = "unknown"


class DType(Enum):
    """The class of a dtype, as far as the rules care: a bool index is a mask, an int index a position."""

    BOOL = "bool"
    INT = "int"
    OTHER = "other"
    UNKNOWN = "unknown"


class Result(Enum):
    """Where the result of an operation is."""

    OPERANDS = "operands"
    """The device the operands meet on."""
    SELF = "self"
    """The first operand's device: in-place operations, views, `*_like`, `copy_`."""
    CPU = "cpu"
    """A CPU tensor, wherever the operands are."""
    OTHER = "other"
    """The device of the argument named `other` (`type_as`)."""
    HOST = "host"
    """A plain Python value (`item`, `tolist`, `size`, `equal`)."""
    DTYPE = "dtype"
    NUMPY = "numpy"
    """An array in host memory."""
    NOTHING = "nothing"
    UNKNOWN = "unknown"


class Shape(Enum):
    """What is known of the result's number of dimensions."""

    BROADCAST = "broadcast"
    """0-dim exactly when every operand is."""
    ZERO = "zero"
    NONZERO = "nonzero"
    REDUCTION = "reduction"
    """0-dim when called without any of the parameters in `reduced_by`, unknown otherwise."""
    SAME = "same"
    """As the first operand."""
    SQUEEZED = "squeezed"
    """0-dim where the first operand has one element and no dimension is named; unknown otherwise."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a call, in Python's order.

    `also` holds the names other overloads give the same position (`torch.max(input, dim | other)`).
    """

    name: str
    kind: Literal["tensor", "tensors", "other"]
    keyword_only: bool = False
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """What one Python call does with the devices of its tensor arguments.

    `name` is the user's ("torch.gather", "Tensor.add_", "operator.add"); for a method the first parameter is `self`.
    `zero_dim`: where a 0-dim CPU tensor may stand; `zero_dim_sometimes`: where that hangs on the others' shapes, or,
    beside `zero_dim`, where one from another accelerator may.
    `stepwise`: kernels of two operands one after another, so that several CPU scalars do not crowd one kernel.
    `scalar_is_operand` (PAIRWISE): a 0-dim tensor in place of a list meets every tensor; otherwise it is read with
    `item()`. `order`: the roles as PyTorch looks at them, where that is not the call's order.
    `cpu_arguments` must be on the CPU, `free_arguments` anywhere.
    `clash` is the kind (tables/errors.json) of the error a plain mismatch raises, `scalar_clash` that of a 0-dim CPU
    tensor outside `zero_dim`, where it differs. `tuple_with`: parameters whose presence makes the result a tuple
    (`torch.max(x, dim)`); `tuple_without`: those whose absence does (`torch.where(condition)`). `reduced_by`:
    parameters whose presence may leave dimensions (Shape.REDUCTION). `result_dtype`: the class of the result where it
    is always the same (comparisons give BOOL, argmax INT).
    `provenance` is the tag of the weakest source: M measured, D derived, S read in sources, W text seen in the
    binaries, K background knowledge (see tables/README.md); `basis` names the aten operations that decide.
    """

    name: str
    rule: Rule
    parameters: tuple[Parameter, ...] = ()
    zero_dim: frozenset[str] = frozenset()
    zero_dim_sometimes: frozenset[str] = frozenset()
    stepwise: bool = False
    scalar_is_operand: bool = False
    order: tuple[str, ...] = ()
    cpu_arguments: frozenset[str] = frozenset()
    free_arguments: frozenset[str] = frozenset()
    in_place: bool = False
    result: Result = Result.OPERANDS
    shape: Shape = Shape.UNKNOWN
    returns_tuple: bool = False
    synchronises: bool = False
    tuple_with: frozenset[str] = frozenset()
    tuple_without: frozenset[str] = frozenset()
    reduced_by: frozenset[str] = frozenset()
    result_dtype: DType = DType.UNKNOWN
    clash: str = "mismatch_exact"
    scalar_clash: str = ""
    provenance: str = "D"
    basis: str = ""


Default = Literal[
    "default_device",
    "default_tensor_type",
    "input",
    "self",
    "data",
    "alias",
    "cpu",
    "current_cuda",
    "qtensor",
    "checkpoint",
    "required",
]


@dataclass(frozen=True, slots=True)
class Factory:
    """A call that makes a tensor, and what decides the device when `device=` is absent.

    `default` is one of the words of tables/factories.json. `follows_context` says whether `with torch.device(d)` and
    `set_default_device` reach it. `random`: a `device=` changes the stream of random numbers. `legacy`: a `device=`
    of another type raises (kind legacy_ctor); `makes` is the dtype of its tensors as code, empty for the default one.
    `reads_bounds`: tensor arguments are read with `item()`. `with_tensors` judges the call when it is given tensors
    (`torch.normal`). `shape` and `dtype` hold when no argument says otherwise.
    """

    name: str
    takes_device: bool
    default: Default
    follows_context: bool
    random: bool = False
    legacy: bool = False
    makes: str = ""
    shape: Shape = Shape.UNKNOWN
    dtype: DType = DType.UNKNOWN
    parameters: tuple[str, ...] = ()
    keyword_only: frozenset[str] = frozenset()
    reads_bounds: bool = False
    with_tensors: Operation | None = None
    provenance: str = "M"

    @property
    def is_uninitialised(self) -> bool:
        """Whether it takes memory and computes nothing: no stream has to wait for that."""
        return self.name.rpartition(".")[2].removeprefix("new_").startswith("empty")


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """What is known of one `torch.nn` class.

    `holds_state`: built with its default arguments it has parameters or buffers. `operands`: the parameters of
    `forward` that are tensors. `state_with`: constructor arguments any of which gives a class without state some
    (`CrossEntropyLoss(weight=w)`). `stateless_without`: those that, all False, leave a class no state
    (`LayerNorm(d, elementwise_affine=False)`). `call_operation` judges the operands when `forward` is one function's
    twin.
    """

    name: str
    holds_state: bool
    loss: bool = False
    call_operation: Operation | None = None
    returns: Literal["tensor", "tuple", "other"] = "tensor"
    operands: tuple[str, ...] = ("input",)
    container: bool = False
    holds_parameters: bool = False
    """A container of parameters, and not of modules."""
    keyed: bool = False
    """A container with names, which it gives where it is looped over."""
    state_with: frozenset[str] = frozenset()
    stateless_without: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Transfer:
    """What a `.to/.cuda/.cpu/.pin_memory` does to its receiver.

    `discard_is_bug` says whether an unused result means the transfer is lost; None where the method does not exist.
    """

    receiver: str
    method: str
    effect: Literal["in_place", "in_place_none", "new", "new_or_self", "missing"]
    discard_is_bug: bool | None
    provenance: str = "M"
