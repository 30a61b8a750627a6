"""Reads of a tensor's data by the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.forward_like_methods import is_handed_a_placed_batch
from devlint.placement.domain.abstract_values import Evidence, Host, Opaque, Tensor, Value
from devlint.placement.domain.events import HostRead
from devlint.placement.domain.excluded_cases import in_the_case
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, Choice, GuardKind, SameAs, leaves
from devlint.placement.domain.provenance import StepKind
from devlint.placement.state.reads_of_arguments import note_read, note_read_of_array
from devlint.records import replace
from devlint.semantics import Dim

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

ARRAY_VIEWS = frozenset({"reshape", "view", "squeeze", "transpose", "swapaxes", "ravel", "diagonal"})
"""Methods of an array whose result shares its memory: https://numpy.org/doc/stable/user/basics.copies.html"""

ARRAY_REDUCTIONS = frozenset(
    {"all", "any", "argmax", "argmin", "item", "max", "mean", "min", "prod", "ptp", "std", "sum", "trace", "var"}
)
"""Methods of an array that without an axis give one number: numpy/_core/_methods.py."""

METHOD = ".numpy()"
"""The reader where a tensor is turned into an array by its own method."""

ARRAY_INDEX = "array[...]"
"""The reader where a tensor indexes an array, or a matrix of scipy."""

ARRAY_WRITE = "array[...] ="
"""The reader where a tensor is written into an array."""

SCIPY_ONLY = frozenset({"todense", "toarray", "tocsr", "tocsc", "tocoo"})
"""Methods that matrices of scipy.sparse have and tensors have not: a tensor has ``to_dense``."""


def host_read(
    interp: Interpreter,
    node: cst.CSTNode,
    reader: str,
    value: Value,
    *,
    wants_cpu: bool = False,
    expression: cst.CSTNode | None = None,
    view: bool = False,
) -> None:
    """A tensor's data is read on the host, or that of an array which shares the memory of a tensor.

    ``view``: the reader only makes an array of the same memory, so that a pending copy goes on being one.
    """
    if isinstance(value, Host) and value.copied_at is not None:
        value = Tensor(CPU, provenance=value.provenance, copied_at=value.copied_at)
    if isinstance(value, Host) and wants_cpu and isinstance(expression, cst.Name):
        event = HostRead(node, interp.scope, reader, Opaque(UNKNOWN), wants_cpu, False, expression, interp.arms)
        if not _is_for_the_rest(interp):
            note_read_of_array(interp, event, expression)
    if not isinstance(value, (Tensor, Opaque)):
        return
    if isinstance(value.device, Choice):
        value = replace(value, device=in_the_case((*interp.arms, *interp.state.left), value.device))
    if (reader == METHOD or _is_indexed(expression)) and _came_with_a_batch(interp, value):
        value = Tensor(value.device, provenance=value.provenance)
    copied = value.copied_at if isinstance(value, Tensor) else None
    in_flight = not view and copied is not None and copied == interp.state.streams.copies
    place = expression if isinstance(expression, cst.BaseExpression) else None
    # In the arm of the CPU, ``else: return x.numpy()`` of ``if torch.cuda.is_available():``, nothing is elsewhere.
    wants_cpu = wants_cpu and not interp.in_cpu_world
    event = HostRead(node, interp.scope, reader, value, wants_cpu, in_flight, place, interp.arms)
    interp.emit(event)
    if reader == METHOD or not _is_for_the_rest(interp):
        note_read(interp, event)
    if CPU not in leaves(value.device):
        # Such a read waits for the work queued before it: `.item()` synchronises.
        interp.state.streams = interp.state.streams.copies_arrived()


def _is_for_the_rest(interp: Interpreter) -> bool:
    """Whether a test has let others go: ``if hasattr(x, "cpu"): return x.cpu().numpy()`` before ``np.asarray(x)``."""
    return any(decided.guard.kind is not GuardKind.IS_NONE for decided in interp.state.left)


def _came_with_a_batch(interp: Interpreter, value: Tensor | Opaque) -> bool:
    """Whether it is where the module is, in a method that a library's trainer calls with what it has moved there.

    What has a method ``numpy`` is a tensor, and the trainer moves all tensors, wherever they are in the batch. So is
    what is indexed by its dimensions, ``batch.ids[:, 0]``: the loader has made tensors of arrays.
    """
    if isinstance(value, Tensor) and value.evidence is Evidence.CERTAIN:
        return False
    # ``if type(batch) is dict: batch = Batch(**batch)``: of the same tensors.
    known = [leaf for leaf in leaves(value.device) if leaf != UNKNOWN]
    anchors = {leaf.symbol.anchor if isinstance(leaf, SameAs) else None for leaf in known}
    return anchors == {Anchor.MODULE} and (is_handed_a_placed_batch(interp.info) or _was_handed_over(interp, value))


def _was_handed_over(interp: Interpreter, value: Tensor | Opaque) -> bool:
    """Whether another method of the class was called with it so: a step, whose results the end of the epoch reads."""
    computed = value.provenance is not None and value.provenance.find(StepKind.COMPUTED) is not None
    first = value.provenance.first if value.provenance is not None and not computed else None
    owner = interp.info.owner if interp.info is not None else None
    if first is None or owner is None or first.kind is not StepKind.GIVEN or first.scope.class_name != owner.qualname:
        return False
    return is_handed_a_placed_batch(owner.method(first.scope.qualname.rpartition(".")[2]))


def _is_indexed(node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.Subscript) and len(node.slice) > 1


_INDICES = (cst.Name, cst.Attribute, cst.Call, cst.Comparison, cst.UnaryOperation, cst.BinaryOperation, cst.Subscript)
"""Expressions whose value may be a tensor of indices, or a mask: ``self.mask.bool()``, ``scores > 0``, ``~keep``."""


def read_indices(interp: Interpreter, node: cst.Subscript) -> None:
    """``array[indices]`` reads the indices through ``__array__``; a tensor without dimensions has ``__index__``."""
    for element in node.slice:
        index = element.slice.value if isinstance(element.slice, cst.Index) else None
        value = interp.evaluate_quietly(index) if isinstance(index, _INDICES) else None
        if isinstance(value, Tensor) and value.dim is not Dim.ZERO:
            host_read(interp, node, ARRAY_INDEX, value, wants_cpu=True, expression=index)


def read_for_array(
    interp: Interpreter, target: cst.Subscript, dims: int, value: Value, value_node: cst.BaseExpression | None
) -> None:
    """``array[start:stop] = t`` reads the tensor through ``__array__``; ``array[i] = t`` through ``float(t)``.

    So does ``frame["name"] = t``, where the key is a column's.

    An index names a row where the tensor has dimensions, or the array has more of them than are named; ``dims``: how
    many the array has, 0 where that is not known.
    Source: ``PyArray_Pack`` in numpy/_core/src/multiarray/array_coercion.c.
    """
    into_row = (isinstance(value, Tensor) and value.dim is Dim.NONZERO) or len(target.slice) < dims
    if into_row or any(_names_several(element.slice) for element in target.slice):
        node = value_node if value_node is not None else target
        host_read(interp, node, ARRAY_WRITE, value, wants_cpu=True, expression=value_node)


def _names_several(place: cst.BaseSlice) -> bool:
    """``a[1:3]``, and the column of a data frame: ``frame["loss"]``, ``frame[f"truth_{i}"]``."""
    if isinstance(place, cst.Slice):
        return True
    return isinstance(place, cst.Index) and isinstance(place.value, (cst.SimpleString, cst.FormattedString))
