"""Which plain containers of a class are handed to something that registers their modules after all."""

from __future__ import annotations

import libcst as cst

from devlint.placement.index import ClassInfo
from devlint.placement.syntax import descend

REGISTERING = frozenset(
    {
        "ModuleList", "ModuleDict", "Sequential", "ParameterList", "ParameterDict", "add_module", "register_module",
        "register_parameter", "register_buffer", "setattr", "__setattr__",
    }
)  # fmt: skip


def registered_attributes(info: ClassInfo) -> frozenset[str]:
    """Names of attributes that appear in an argument of a registering call, or are looped over around one."""
    found: set[str] = set()
    for method in info.methods.values():
        for node in descend(method.node.body):
            if isinstance(node, cst.Call) and _registers(node):
                for argument in node.args:
                    found.update(_attributes(argument.value))
            elif isinstance(node, cst.For) and any(
                isinstance(child, cst.Call) and _registers(child) for child in descend(node.body)
            ):
                found.update(_attributes(node.iter))
    return frozenset(found)


def _registers(call: cst.Call) -> bool:
    function = call.func
    name = function.attr.value if isinstance(function, cst.Attribute) else getattr(function, "value", "")
    return name in REGISTERING


def _attributes(node: cst.BaseExpression) -> list[str]:
    return [
        child.attr.value
        for child in descend(node)
        if isinstance(child, cst.Attribute) and isinstance(child.value, cst.Name) and child.value.value == "self"
    ]
