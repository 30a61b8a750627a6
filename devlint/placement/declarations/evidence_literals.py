"""What an expression is as it is written: a number, a text, a test for what is absent."""

from __future__ import annotations

import libcst as cst


def is_integer(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.UnaryOperation):
        node = node.expression
    return isinstance(node, cst.Integer)


def is_text(node: cst.BaseExpression) -> bool:
    if isinstance(node, (cst.List, cst.Tuple)):
        return any(is_text(element.value) for element in node.elements)
    return isinstance(node, (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString))


def absent(test: cst.BaseExpression) -> str:
    """``x``, of ``x is None`` and ``x is not None``."""
    match test:
        case cst.Comparison(
            left=cst.Name(value=name),
            comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.IsNot(), comparator=cst.Name(value="None"))],
        ):
            return name
    return ""
