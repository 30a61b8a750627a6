"""What is computed of a name: if the result is a tensor, so is what it was computed of, by convention."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from devlint.placement.declarations import evidence_rows as rows
from devlint.placement.declarations.evidence_found import Found
from devlint.placement.syntax.nodes import dotted


def note_computed(node: cst.BaseExpression, found: Found) -> None:
    """Note what an expression that is certainly a tensor shows of the name that it is computed of."""
    parts = [element.value for element in node.elements] if isinstance(node, (cst.List, cst.Tuple)) else [node]
    for part in parts:
        names: set[str] = set()
        if isinstance(part, cst.Name) or not _read(part, found.masks, names):
            continue
        if len(names) == 1:
            found.note(names.pop(), rows.COMPUTED_OF)
        else:
            found.together.append(names)


def computed_from(node: cst.BaseExpression | None, masks: Collection[str]) -> str:
    """``x``, of ``x.sum(axis=1) >= 1``, ``x[:, 0] * x[:, 0] + x[:, 1]``; empty for what is computed of several names.

    A name by itself counts as well, axes of it, and what one of the ``masks`` picks. Another item may be a tensor of a
    list, and says nothing of the whole.
    """
    names: set[str] = set()
    return names.pop() if _read(node, masks, names) and len(names) == 1 else ""


def is_mask(node: cst.BaseExpression) -> bool:
    """``labels >= 0``, ``~known``: read as an index, it picks from an array or a tensor."""
    if type(node) is cst.Comparison:
        return len(node.comparisons) == 1 and isinstance(node.comparisons[0].operator, _ORDERS)
    return type(node) is cst.UnaryOperation and type(node.operator) is cst.BitInvert


def _read(node: cst.BaseExpression | None, masks: Collection[str], names: set[str]) -> bool:
    """Add the names that an expression is computed of; False where it is not computed of names alone."""
    while type(node) in _MAY_BE_COMPUTED:  # what is none of these would be compared with each
        match node:
            case cst.Name(value=name):
                names.add(name)
                return True
            case cst.UnaryOperation() if not isinstance(node.operator, cst.Not):
                node = node.expression
            case cst.BinaryOperation(left=left, right=right):
                if _is_set(left) or _is_set(right):
                    node = right if _is_set(left) else left
                elif _read(right, masks, names):
                    node = left
                else:
                    return False
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right, operator=operator)]):
                ordered = isinstance(operator, _ORDERS)
                node = None if not ordered else right if _is_number(left) else left if _is_number(right) else None
            case cst.Subscript(value=value) if _is_of_axes(node) or is_picked(node, masks):
                node = value
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value=method))) if method in _METHODS:
                node = value
            case _:
                return False
    return False


_MAY_BE_COMPUTED = frozenset(
    {cst.Name, cst.UnaryOperation, cst.BinaryOperation, cst.Comparison, cst.Subscript, cst.Call}
)


_METHODS = rows.COMPUTED_FROM | rows.PASSING
_ORDERS = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual, cst.Equal, cst.NotEqual)


def _is_of_axes(node: cst.Subscript) -> bool:
    """``x[None]``, ``x[..., 0]``, ``x[:, None]``: no list is read so."""
    first, *others = (element.slice for element in node.slice)
    return any(map(is_axis, (first, *others))) and (bool(others) or not isinstance(first, cst.Slice))


def is_of_several_axes(node: cst.Subscript) -> bool:
    """``x[:, 0]``, ``x[row, column]``: an item of a tensor or an array, and seldom of a dict."""
    return len(node.slice) > 1 or any(is_axis(part.slice) for part in node.slice)


def is_picked(node: cst.Subscript, masks: Collection[str]) -> bool:
    """``x[known]``, ``x[labels >= 0]``: neither lists nor dicts are read so."""
    index = node.slice[0].slice if len(node.slice) == 1 else None
    if not isinstance(index, cst.Index):
        return False
    return index.value.value in masks if isinstance(index.value, cst.Name) else is_mask(index.value)


def is_axis(part: cst.BaseSlice) -> bool:
    """``:``, ``...`` or ``None`` among several indices."""
    if isinstance(part, cst.Slice):
        return True
    return isinstance(part, cst.Index) and (
        isinstance(part.value, cst.Ellipsis) or (isinstance(part.value, cst.Name) and part.value.value == "None")
    )


def _is_set(node: cst.BaseExpression) -> bool:
    """Whether it is no argument: a number, a constant, or an attribute that the object keeps (``x + self.eps``)."""
    name = dotted(node) or ""
    return _is_number(node) or name.startswith("self.") or name.isupper() or name in ("math.pi", "np.pi", "torch.pi")


def _is_number(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.UnaryOperation):
        node = node.expression
    return isinstance(node, (cst.Integer, cst.Float))
