"""What a loop goes through."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.placement.syntax.nodes import dotted


def items_and_wholes(target: cst.BaseExpression, node: cst.BaseExpression) -> Iterator[tuple[cst.BaseExpression, str]]:
    """``row`` and ``rows``, of ``row in rows``, ``i, row in enumerate(rows)``, ``row, other in zip(rows, others)``."""
    parts = [element.value for element in target.elements] if type(target) is cst.Tuple else []
    match node:
        case cst.Name():
            yield target, node.value
        case cst.Call(func=cst.Name(value="reversed"), args=[whole]):
            yield from items_and_wholes(target, whole.value)
        case cst.Call(func=cst.Name(value="enumerate"), args=[whole, *_]) if len(parts) == 2:
            yield from items_and_wholes(parts[1], whole.value)
        case cst.Call(func=cst.Name(value="zip"), args=wholes) if len(parts) == len(wholes):
            for part, whole in zip(parts, wholes, strict=True):
                yield from items_and_wholes(part, whole.value)


def goes_through_keys(iterated: cst.BaseExpression) -> bool:
    """``for name in names``, ``for name in losses.keys()``: no range of numbers, as far as is seen."""
    if isinstance(iterated, cst.Call):
        return isinstance(iterated.func, cst.Attribute) and iterated.func.attr.value in ("keys", "items")
    return True


def indexed_by(node: cst.BaseExpression) -> str:
    """``rows``, of ``range(len(rows))``."""
    for function in ("range", "len"):
        if type(node) is not cst.Call or dotted(node.func) != function or len(node.args) != 1:
            return ""
        node = node.args[0].value
    return dotted(node) or ""
