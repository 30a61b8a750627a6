"""What is written as a sequence: what is made of it has a dimension, whatever its items are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.syntax.nodes import code_of, descend, parameters_of

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

_SEQUENCE = re.compile(r"(?:Optional\[)?(?:\w+\.)?(?:[Ll]ist|[Tt]uple|Sequence)(?:\[[^|]*\])?(?: ?\| ?None)?\]?")
_MAKING = frozenset({"list", "tuple", "sorted", "range"})
_ASKING = frozenset({"isinstance", "hasattr", "callable", "type"})


def is_sequence(interp: Interpreter, node: cst.BaseExpression) -> bool:
    """``list(weights.values())``, ``sizes[1:]``, ``[0.0] + weights``: a sequence by the way it is written.

    A name is one where all that is bound to it is, or where its annotation, its default or a use of the argument says
    so: nobody counts the items of a number, or goes through it.
    """
    return _is_written(interp, node, 0)


def _is_written(interp: Interpreter, node: cst.BaseExpression, depth: int) -> bool:
    if depth > 3:
        return False
    match node:
        case cst.List() | cst.Tuple() | cst.ListComp():
            return True
        case cst.Call(func=cst.Name(value=name), args=[_, *_]):
            return name in _MAKING
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            # An array and a list give an array, which has a dimension as well.
            return _is_written(interp, left, depth + 1) or _is_written(interp, right, depth + 1)
        case cst.BinaryOperation(left=left, operator=cst.Multiply(), right=right):
            return any(isinstance(side, (cst.List, cst.ListComp)) for side in (left, right))
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Slice())]):
            return True
        case cst.IfExp(body=body, orelse=orelse):
            return _is_written(interp, body, depth + 1) and _is_written(interp, orelse, depth + 1)
        case cst.Name(value=name):
            return _is_bound(interp, name, depth) or _is_argument(interp, name)
        case _:
            return False


def _is_bound(interp: Interpreter, name: str, depth: int) -> bool:
    """Whether each statement that binds a local name binds it to a sequence."""
    if interp.info is None or not interp.state.versions.get(name, 0):
        return False
    if any(parameter.name.value == name for parameter in parameters_of(interp.info.header)):
        return False
    bound: list[cst.BaseExpression] = []
    for statement in descend(interp.info.node, into_definitions=False):
        match statement:
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.BaseExpression() as value):
                if _is(target, name):
                    bound.append(value)
            case cst.AnnAssign(target=target, value=cst.BaseExpression() as value) if _is(target, name):
                bound.append(value)
            case cst.AugAssign(target=target) | cst.For(target=target) | cst.NamedExpr(target=target):
                if _is(target, name):
                    return False
            case _:
                pass
    return bool(bound) and all(_is_written(interp, value, depth + 1) for value in bound)


def _is(target: cst.BaseExpression, name: str) -> bool:
    return isinstance(target, cst.Name) and target.value == name


def _is_argument(interp: Interpreter, name: str) -> bool:
    """``sizes: list[int]``, ``sizes=(3, 3)``; ``len(sizes)``, ``for size in sizes`` of an argument as it came."""
    if interp.info is None or interp.state.versions.get(name, 0):
        return False
    parameters = [p for p in parameters_of(interp.info.header) if p.name.value == name]
    if any(isinstance(p.default, (cst.List, cst.Tuple)) for p in parameters):
        return True
    stated = (p.annotation for p in parameters)
    if any(s is not None and _SEQUENCE.fullmatch(code_of(s.annotation)) is not None for s in stated):
        return True
    gone_through = name in interp.uses.several or name in interp.uses.with_dimensions
    return bool(parameters) and gone_through and not _is_asked_for(interp.info.node, name)


def _is_asked_for(definition: cst.CSTNode, name: str) -> bool:
    """``isinstance(scale, (list, tuple))``: it may be a number as well."""
    return any(
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value in _ASKING
        and bool(node.args)
        and _is(node.args[0].value, name)
        for node in descend(definition)
    )
