"""Decorators of the project behind which a call gives what the decorated function gives.

``def in_eval_mode(fn)`` with ``def inner(self, *args, **kwargs)``, which calls ``fn`` with what it was called with, and
returns what that gave.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.definitions import FunctionInfo, is_transparent
from devlint.placement.domain.abstract_values import Function
from devlint.placement.syntax.nodes import body_of, descend, parameters_of

if TYPE_CHECKING:
    from devlint.placement.interpreter.program import Program


def hand_through(program: Program, info: FunctionInfo) -> bool:
    """Whether every decorator of a definition is known to hand arguments and result through."""
    if info.keeps_signature:
        return True
    holder = program.holder(info)
    if holder is None or not isinstance(info.header, cst.FunctionDef):
        return False
    return all(
        is_transparent(name) or _hands_through(holder, one.decorator)
        for name, one in zip(info.decorators, info.header.decorators, strict=True)
    )


def _hands_through(program: Program, decorator: cst.BaseExpression) -> bool:
    named = decorator.func if isinstance(decorator, cst.Call) else decorator
    found = program.global_value(named.value) if isinstance(named, cst.Name) else None
    if not isinstance(found, Function) or found.info.decorators:
        return False
    info, is_called = found.info, isinstance(decorator, cst.Call)
    find = partial(_is_known_wrapper, info, is_called)
    return find() if info.linkage is None else info.linkage.query(("hands through", info.key, is_called), find, False)


def _is_known_wrapper(info: FunctionInfo, is_called: bool) -> bool:
    """By its source alone. Of ``@retry(times=3)`` what the call gives is the decorator."""
    node = info.node
    if not isinstance(node, cst.FunctionDef):
        return False
    decorator = _returned_definition(node) if is_called else node
    return decorator is not None and _is_wrapper(decorator)


def _is_wrapper(decorator: cst.FunctionDef) -> bool:
    """Whether it returns a function that calls the decorated one with its own arguments, and returns the result."""
    parameters = parameters_of(decorator)
    inner = _returned_definition(decorator)
    if inner is None or len(parameters) != 1 or not isinstance(inner.params.star_arg, cst.Param):
        return False
    decorated = parameters[0].name.value
    given = [(one.name.value, "") for one in parameters_of(inner)] + [(inner.params.star_arg.name.value, "*")]
    if inner.params.star_kwarg is not None:
        given.append((inner.params.star_kwarg.name.value, "**"))

    def is_the_call(node: cst.BaseExpression | None) -> bool:
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Name) or node.func.value != decorated:
            return False
        return [(one.value.value if isinstance(one.value, cst.Name) else "", one.star) for one in node.args] == given

    parts = list(descend(inner.body, into_definitions=False))
    bound: dict[str, list[cst.BaseExpression]] = {}
    for part in parts:
        if isinstance(part, cst.Assign):
            for target in part.targets:
                for child in descend(target.target):
                    if isinstance(child, cst.Name):
                        bound.setdefault(child.value, []).append(part.value)
        elif isinstance(part, cst.AugAssign) and isinstance(part.target, cst.Name):
            bound.setdefault(part.target.value, []).append(part.value)
    calls = sum(is_the_call(part) for part in parts if isinstance(part, cst.Call))
    for name, star in given:
        # Whatever else is done with `args` and `kwargs` may change them: `kwargs["device"] = self.device`.
        read = sum(isinstance(part, cst.Name) and part.value == name for part in parts) if star else calls
        if read != calls or name in bound:
            return False
    returns = [part.value for part in parts if isinstance(part, cst.Return)]
    return bool(returns) and all(
        is_the_call(value)
        or (isinstance(value, cst.Name) and value.value in bound and all(map(is_the_call, bound[value.value])))
        for value in returns
    )


def _returned_definition(node: cst.FunctionDef) -> cst.FunctionDef | None:
    """The nested definition that a function returns wherever it returns."""
    nested = {one.name.value: one for one in body_of(node.body) if isinstance(one, cst.FunctionDef)}
    returns = [part.value for part in descend(node.body, into_definitions=False) if isinstance(part, cst.Return)]
    names = {value.value if isinstance(value, cst.Name) else "" for value in returns}
    return nested.get(names.pop()) if len(names) == 1 else None
