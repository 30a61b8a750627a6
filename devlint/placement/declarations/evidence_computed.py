"""What is computed of a name: if the result is a tensor, so is what it was computed of."""

from __future__ import annotations

import libcst as cst

from devlint.placement.declarations import evidence_rows as rows
from devlint.placement.declarations.evidence_found import Found


def note_computed(node: cst.BaseExpression, found: Found) -> None:
    """Note what an expression that is certainly a tensor shows of the name that it is computed of."""
    parts = [element.value for element in node.elements] if isinstance(node, (cst.List, cst.Tuple)) else [node]
    for part in parts:
        name = computed_from(part)
        if name and not isinstance(part, cst.Name):
            found.note(name, rows.COMPUTED_OF)


def computed_from(node: cst.BaseExpression | None) -> str:
    """``x``, of ``x.sum(axis=1) >= 1``, ``-x / 2``, ``x.mean().sqrt()``; empty for what is computed of several names.

    A name by itself counts as well. An item may be a tensor of a list, and says nothing of the whole.
    """
    while True:
        match node:
            case cst.Name():
                return node.value
            case cst.UnaryOperation() if not isinstance(node.operator, cst.Not):
                node = node.expression
            case cst.BinaryOperation(left=left, right=right):
                node = right if _is_number(left) else left if _is_number(right) else None
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right, operator=operator)]):
                ordered = isinstance(operator, _ORDERS)
                node = None if not ordered else right if _is_number(left) else left if _is_number(right) else None
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value=method))) if method in _METHODS:
                node = value
            case _:
                return ""


_METHODS = rows.COMPUTED_FROM | rows.PASSING
_ORDERS = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual, cst.Equal, cst.NotEqual)


def _is_number(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.UnaryOperation):
        node = node.expression
    return isinstance(node, (cst.Integer, cst.Float))
