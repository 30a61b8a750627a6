"""Subscripts: ``x[...]`` read and assigned, with slices and with index tensors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.declarations.evidence_arrays import works_with_arrays_alone
from devlint.placement.domain.abstract_values import (
    Constant,
    Container,
    Evidence,
    Host,
    Opaque,
    Tensor,
    Value,
    as_tensor,
)
from devlint.placement.domain.events import IndexedFromHost, MismatchOperand, WrittenByIndex
from devlint.placement.domain.lattice import CPU, UNKNOWN, is_of_parameter, leaves
from devlint.placement.domain.provenance import StepKind, was_moved
from devlint.placement.state.refusals import note_refused
from devlint.placement.syntax.nodes import code_of, parameters_of
from devlint.records import replace
from devlint.semantics import Dim, Elements

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.operands import Bound, device_of_value, dim_of


def read_item(interp: Interpreter, node: cst.Subscript, value: Tensor | Opaque) -> Value:
    """``x[...]``: an index may be on the CPU; on another device, x must be on that device too."""
    indices, advanced = _indices(interp, node)
    if not advanced and _has_no_items(value) and _counts(node) and _is_reduced(node.value):
        note_refused(interp, node)
    if not advanced:
        return _viewed(interp, node, value, indices)
    operation = semantics.operator("[]")
    bound = [Bound("self", value, node.value, strict=True), *indices]
    for index in indices:
        if CPU in leaves(device_of_value(index.value)) and device_of_value(value) not in (CPU, UNKNOWN):
            interp.emit(
                IndexedFromHost(node, interp.scope, value, MismatchOperand(index.role, index.value, index.node))
            )
    result = perform(interp, node, operation, bound)
    if isinstance(result, Tensor):
        left = _least_dims_left(interp, node, value) if isinstance(value, Tensor) else 0
        dim = Dim.NONZERO if left or any(map(_gives_dimensions, indices)) else Dim.UNKNOWN
        return replace(result, dim=dim, least_dims=left)
    return result


def _has_no_items(value: Tensor | Opaque) -> bool:
    return isinstance(value, Tensor) and value.dim is Dim.ZERO and value.evidence is Evidence.CERTAIN


def _is_reduced(node: cst.BaseExpression) -> bool:
    """``x.sum().data``: what a method gives that is told no dimension."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args


def _counts(node: cst.Subscript) -> bool:
    """``loss.data[0]``: an integer is an index that a tensor without dimensions refuses."""
    indices = [element.slice.value for element in node.slice if isinstance(element.slice, cst.Index)]
    return any(isinstance(index, cst.Integer) for index in indices)


def _gives_dimensions(index: Bound) -> bool:
    """Index tensors are broadcast together, and selecting with a mask, even a 0-dim one, gives a dimension."""
    value = index.value
    if isinstance(value, Opaque):
        return isinstance(index.node, cst.BaseExpression) and _is_argument(value, index.node)
    is_mask = isinstance(value, Tensor) and value.dtype is semantics.DType.BOOL
    return is_mask or dim_of(value) is Dim.NONZERO


def _viewed(interp: Interpreter, node: cst.Subscript, value: Tensor | Opaque, indices: Sequence[Bound]) -> Value:
    """Slices and ``None`` keep dimensions, an integer takes one away; a slice shows that there is one."""
    if isinstance(value, Opaque):
        # Only tensors and arrays accept a tuple or None as index.
        several = len(node.slice) > 1 or _keeps_dimension_by_none(node)
        return replace(value, tensorlike=True) if several and not _is_of_arrays(interp, value) else value
    only_slices = all(
        isinstance(element.slice, cst.Slice)
        or (isinstance(element.slice, cst.Index) and _keeps_dimension(interp, element.slice.value))
        for element in node.slice
    )
    adds = _keeps_dimension_by_none(node)
    dim = Dim.NONZERO if adds or any(isinstance(e.slice, cst.Slice) for e in node.slice) else Dim.UNKNOWN
    if only_slices and dim is Dim.UNKNOWN:
        dim = value.dim
    if is_edge_index(node.value) and len(node.slice) == 1:
        dim = Dim.NONZERO
    least = _least_dims_left(interp, node, value)
    if least and dim is Dim.UNKNOWN:
        dim = Dim.NONZERO
    return replace(value, dim=dim, elements=Elements.UNKNOWN, least_dims=least)


def _least_dims_left(interp: Interpreter, node: cst.Subscript, value: Tensor) -> int:
    """How many dimensions are left at least: a number, or an index tensor, takes one away at most.

    So does what is not known, ``self.table[ids]``, unless it is a tuple.
    """
    left = value.least_dims
    for element in node.slice:
        part = element.slice
        if not isinstance(part, cst.Index) or isinstance(part.value, cst.Ellipsis):
            continue
        if isinstance(part.value, cst.Name) and part.value.value == "None":
            left += 1
            continue
        if _holds_several(interp, part.value):
            return 0
        left -= 1
    return max(left, 0)


def _is_of_arrays(interp: Interpreter, value: Opaque) -> bool:
    """Whether an argument of unknown type may be an array: its function works with arrays, and names no torch."""
    leaf = value.device
    argument = is_of_parameter(leaf) and not was_moved(value.provenance)
    return argument and interp.info is not None and works_with_arrays_alone(interp.info, interp.index.imports)


def is_edge_index(node: cst.BaseExpression) -> bool:
    """``edge_index``, ``data.edge_index``: PyTorch Geometric's name for two rows of node indices."""
    name = node.attr if isinstance(node, cst.Attribute) else node
    return isinstance(name, cst.Name) and name.value == "edge_index"


def _keeps_dimension_by_none(node: cst.Subscript) -> bool:
    """Whether a ``None`` in the index adds a dimension."""
    return any(
        isinstance(element.slice, cst.Index)
        and isinstance(element.slice.value, cst.Name)
        and element.slice.value.value == "None"
        for element in node.slice
    )


def _keeps_dimension(interp: Interpreter, node: cst.BaseExpression) -> bool:
    """Whether no part of an index is a number: ``...``, ``None``, and tuples of such, ``(...,) + (None,) * k``."""
    match node:
        case cst.Ellipsis() | cst.Name(value="None") | cst.Call(func=cst.Name(value="slice")):
            return True
        case cst.Tuple(elements=elements):
            return all(isinstance(one, cst.Element) and _keeps_dimension(interp, one.value) for one in elements)
        case cst.BinaryOperation(operator=cst.Add()):
            return _keeps_dimension(interp, node.left) and _keeps_dimension(interp, node.right)
        case cst.BinaryOperation(operator=cst.Multiply()):
            return any(isinstance(one, cst.Tuple) and _keeps_dimension(interp, one) for one in (node.left, node.right))
        case cst.Name():
            bound = interp.state.values.get(node.value)
            return isinstance(bound, Container) and bound.type in ("tuple", "list") and _are_none(bound.values)
    return False


def _are_none(values: Sequence[Value]) -> bool:
    return bool(values) and all(isinstance(value, Constant) and value.value is None for value in values)


def _indices(interp: Interpreter, node: cst.Subscript) -> tuple[list[Bound], bool]:
    """The tensor indices of a subscript, and whether it contains any."""
    found: list[Bound] = []
    for element in node.slice:
        part = element.slice
        if isinstance(part, cst.Index):
            given = interp.evaluate(part.value)
            # A tuple that is kept in a variable is as many indices.
            several = isinstance(given, Container) and given.type == "tuple" and given.rest is None
            for value in given.items if isinstance(given, Container) and several else (given,):
                if isinstance(value, Opaque) and value.moved:
                    # An object that is no tensor, and can be moved, is no index.
                    value = as_tensor(value)
                if isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike):
                    index = Bound("indices", value, part.value, strict=True)
                    found.append(_with_dimensions(index) if _is_argument(value, part.value) else index)
        elif isinstance(part, cst.Slice):
            for bound in (part.lower, part.upper, part.step):
                if bound is not None:
                    interp.evaluate(bound)
    return _as_long_as_each_other(found), bool(found)


def _lists(interp: Interpreter, node: cst.Subscript, owner: Tensor | Opaque) -> list[Bound]:
    """The lists of numbers among the indices: torch makes an index tensor of each, where the tensor is."""
    parts = [element.slice.value for element in node.slice if isinstance(element.slice, cst.Index)]
    index = Tensor(device_of_value(owner), Dim.NONZERO)
    return [Bound("indices", index, part, strict=True) for part in parts if _is_list_of_numbers(interp, part)]


def _is_list_of_numbers(interp: Interpreter, node: cst.BaseExpression) -> bool:
    value = interp.evaluate_quietly(node) if isinstance(node, (cst.Name, cst.List, cst.ListComp)) else None
    if isinstance(value, Container):
        return value.type == "list" and value.keys is None and all(isinstance(one, _NUMBERS) for one in value.values)
    return isinstance(value, Host) and _LIST.fullmatch(_stated(interp, node)) is not None


def _holds_several(interp: Interpreter, node: cst.BaseExpression) -> bool:
    """Whether an index is a tuple: as many indices as it has items."""
    tuples = isinstance(node, cst.Tuple) or isinstance(interp.evaluate_quietly(node), Container)
    return tuples or "tuple" in _stated(interp, node).lower()


def _stated(interp: Interpreter, node: cst.BaseExpression) -> str:
    """The annotation of a parameter, as it is written."""
    parameters = parameters_of(interp.info.node) if interp.info is not None and isinstance(node, cst.Name) else ()
    named = (one.annotation for one in parameters if isinstance(node, cst.Name) and one.name.value == node.value)
    return next((code_of(stating.annotation) for stating in named if stating is not None), "")


_NUMBERS = (Host, Constant)
_LIST = re.compile(r"(?:\w+\.)?(?:[Ll]ist|Sequence)\[(?:int|bool)\]")

_CASTS = frozenset({"long", "int", "to", "type", "bool", "cuda", "cpu"})


def _is_argument(value: Tensor | Opaque, node: cst.BaseExpression) -> bool:
    """An argument as it was given, but for dtype and device: nothing keeps a caller from giving several indexes.

    Nor does anything keep a module from it, whose results come as they are.
    """
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _CASTS:
        node = node.func.value
    given = next((step for step in value.provenance or () if step.kind is not StepKind.MOVED), None)
    if given is None or not isinstance(node, cst.Name):
        return False
    of_module = given.kind is StepKind.COMPUTED and isinstance(given.node, cst.Call)
    return of_module or (isinstance(given.node, cst.Param) and given.node.name.value == node.value)


def _as_long_as_each_other(indices: list[Bound]) -> list[Bound]:
    """Index tensors of one subscript are broadcast together: if one has dimensions, none is treated as a number."""
    if not any(dim_of(b.value) is Dim.NONZERO for b in indices) and not _are_rows_of_one(indices):
        return indices
    return [_with_dimensions(b) for b in indices]


def _are_rows_of_one(indices: list[Bound]) -> bool:
    """``pairs[0], pairs[1]``: the rows of one tensor, each of them as many indexes as it has columns."""
    rows = [b.node for b in indices if isinstance(b.node, cst.Subscript) and _is_numbered(b.node)]
    return len(rows) == len(indices) > 1 and len({code_of(row.value) for row in rows}) == 1


def _is_numbered(node: cst.Subscript) -> bool:
    index = node.slice[0].slice
    return len(node.slice) == 1 and isinstance(index, cst.Index) and isinstance(index.value, cst.Integer)


def _with_dimensions(bound: Bound) -> Bound:
    value = bound.value
    if isinstance(value, Tensor) and value.dim is Dim.UNKNOWN:
        return replace(bound, value=replace(value, dim=Dim.NONZERO))
    return bound


def write_item(
    interp: Interpreter,
    target: cst.Subscript,
    owner: Tensor | Opaque,
    value: Value,
    value_node: cst.BaseExpression | None,
) -> None:
    """``x[...] = v``: with slices and integers v may be on any device, with an index tensor or a list it may not."""
    indices, _ = _indices(interp, target)
    indices += _lists(interp, target, owner)
    if not indices:
        return
    for index in indices:
        if isinstance(index.value, (Tensor, Opaque)):
            interp.emit(WrittenByIndex(target, interp.scope, owner, index.value))
    operation = semantics.operator("[]=")
    if dim_of(value) is Dim.NONZERO:
        # Several values go to several places; a single value in a one-element row is assigned as a number.
        indices = [_with_dimensions(b) for b in indices]
        if isinstance(value, Tensor) and value.elements is Elements.UNKNOWN:
            value = replace(value, elements=Elements.MANY)
    bound = [Bound("self", owner, target.value, strict=True), *indices]
    if isinstance(value, (Tensor, Opaque)):
        bound.append(Bound("value", value, value_node if value_node is not None else target))
    perform(interp, target, operation, bound)
