"""What a loop goes through."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.placement.declarations.evidence_literals import is_integer
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


def items_picked(target: cst.BaseAssignTargetExpression, value: cst.BaseExpression) -> Iterator[tuple[str, str]]:
    """``first`` and ``states``, of ``first = states[0]`` and ``first, second = states[0], states[1]``."""
    if type(value) is cst.Tuple and type(target) is cst.Tuple and len(target.elements) == len(value.elements):
        for one, part in zip(target.elements, value.elements, strict=True):
            if isinstance(one.value, cst.Name):
                yield from items_picked(one.value, part.value)
    if type(value) is not cst.Subscript:
        return  # most are none
    match target, value:
        case cst.Name(value=name), cst.Subscript(
            value=cst.Name(value=whole), slice=[cst.SubscriptElement(slice=cst.Index(value=index))]
        ) if is_integer(index):
            yield name, whole


def counter(target: cst.BaseExpression, iterated: cst.BaseExpression) -> Iterator[str]:
    """``i``, of ``for i, layer in enumerate(self.layers)``: what is read by it has an item for each layer."""
    if not isinstance(iterated, cst.Call) or dotted(iterated.func) != "enumerate" or not iterated.args:
        return
    of_object = isinstance(iterated.args[0].value, cst.Attribute)
    if of_object and isinstance(target, cst.Tuple) and isinstance(target.elements[0].value, cst.Name):
        yield target.elements[0].value.value


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
