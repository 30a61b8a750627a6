"""Methods that store what they get by keyword: ``for name, part in parts.items(): setattr(self, name, part)``."""

from __future__ import annotations

import libcst as cst

from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.syntax.nodes import descend, is_name, parameters_of


def stores_its_keywords(method: FunctionInfo) -> bool:
    """Whether a method sets an attribute of its object for each keyword that it has no parameter for.

    As ``DiffusionPipeline.register_modules`` does (diffusers/pipelines/pipeline_utils.py).
    """
    star, first = method.header.params.star_kwarg, parameters_of(method.header)[:1]
    if star is None or not first or method.is_static or method.is_classmethod:
        return False
    me, given = first[0].name.value, star.name.value
    return any(
        isinstance(node, cst.For) and _goes_over(node.iter, given) and _sets(node, me)
        for node in descend(method.node.body)
    )


def _goes_over(node: cst.BaseExpression, given: str) -> bool:
    """``parts.items()``."""
    function = node.func if isinstance(node, cst.Call) else None
    return isinstance(function, cst.Attribute) and function.attr.value == "items" and is_name(function.value, given)


def _sets(loop: cst.For, me: str) -> bool:
    """``setattr(self, name, part)`` or ``self.add_module(name, part)``, where ``name`` is the key of the loop."""
    target = loop.target.elements if isinstance(loop.target, cst.Tuple) else ()
    key = target[0].value if len(target) == 2 else None
    if not isinstance(key, cst.Name):
        return False
    for node in descend(loop.body):
        if not isinstance(node, cst.Call):
            continue
        given = [argument.value for argument in node.args]
        if is_name(node.func, "setattr") and len(given) == 3 and is_name(given[0], me):
            given = given[1:]
        elif not _registers(node.func, me):
            continue
        if len(given) == 2 and is_name(given[0], key.value):
            return True
    return False


def _registers(function: cst.BaseExpression, me: str) -> bool:
    of_self = isinstance(function, cst.Attribute) and is_name(function.value, me)
    return of_self and isinstance(function, cst.Attribute) and function.attr.value in ("add_module", "register_module")
