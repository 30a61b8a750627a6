"""Loaders that are made with a device, ``MpDeviceLoader(loader, device)``: what they hand out is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.evidence_conventions import draws_from_a_loader
from devlint.placement.syntax.nodes import code_of, descend

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def source_of(interp: Interpreter, node: cst.BaseExpression) -> str:
    """What a batch is drawn from, in the words of the source: of a name that holds such a loader, what made it."""
    text = code_of(node)
    name = node.args[0].value if isinstance(node, cst.Call) and text.startswith("enumerate(") and node.args else node
    if not isinstance(name, cst.Name) or interp.info is None or not draws_from_a_loader(text):
        return text
    for statement in descend(interp.info.node):
        if isinstance(statement, cst.Assign) and isinstance(statement.value, cst.Call):
            targets = (one.target for one in statement.targets)
            binds = any(isinstance(target, cst.Name) and target.value == name.value for target in targets)
            if binds and _is_told_a_device(statement.value):
                return code_of(statement.value)
    return text


def _is_told_a_device(node: cst.BaseExpression) -> bool:
    """Whether a device is an argument of a call, an item of one, or an argument of the call that gives its receiver."""
    while isinstance(node, cst.Call):
        for argument in node.args:
            value = argument.value
            items = value.elements if isinstance(value, (cst.List, cst.Tuple)) else ()
            if any(map(_is_a_device, (value, *(item.value for item in items)))):
                return True
        if not isinstance(node.func, cst.Attribute):
            return False
        node = node.func.value
    return False


def _is_a_device(node: cst.BaseExpression) -> bool:
    last = node.attr.value if isinstance(node, cst.Attribute) else node.value if isinstance(node, cst.Name) else ""
    return last.lower() == "device" or last.lower().endswith("_device")
