"""Functions that give an argument back, brought to another place, and do nothing else: ``return x.to(device)``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import libcst as cst

from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.syntax.nodes import body_of, descend, dotted, parameters_of
from devlint.source.outline import PLACING

_BRINGING = PLACING | {"cpu"}
_ALONG = frozenset({"float", "double", "half", "bfloat16", "long", "int", "bool", "contiguous", "detach", "unsqueeze"})
"""Methods of a tensor beside a transfer that leave the argument as it is, too."""


def given_back_moved(info: FunctionInfo) -> str | None:
    """The parameter that a definition gives back moved, whatever arm it takes; None if it does more than that."""
    if not info.is_definition or info.is_generator or not info.places_itself:
        return None
    find = partial(_given_back_moved, info)
    return find() if info.linkage is None else info.linkage.query(("given back moved", info.key), find, None)


def _given_back_moved(info: FunctionInfo) -> str | None:
    node = info.node
    if not isinstance(node, cst.FunctionDef) or node.decorators:
        return None
    named = [parameter.name.value for parameter in parameters_of(info.header)[info.has_receiver :]]
    expressions = list(_given(node.body, named))
    if not expressions or None in expressions:
        return None
    names = {name for name in map(partial(_brought, info.name, named), expressions) if name != ""}
    return names.pop() if len(names) == 1 and _is_moved_somewhere(expressions) else None


def _given(body: cst.BaseSuite, named: Sequence[str]) -> Iterator[cst.BaseExpression | None]:
    """What a body returns or binds its parameters to; None for a statement that does something else."""
    for statement in body_of(body):
        match statement:
            case cst.Return(value=cst.BaseExpression() as value):
                yield value
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value) if name in named:
                yield value
            case cst.If():
                yield from _given(statement.body, named)
                otherwise = statement.orelse
                while isinstance(otherwise, cst.If):
                    yield from _given(otherwise.body, named)
                    otherwise = otherwise.orelse
                if otherwise is not None:
                    yield from _given(otherwise.body, named)
            case cst.Expr(value=cst.SimpleString()) | cst.Pass() | cst.Raise() | cst.Assert():
                pass
            case _:
                yield None


def _brought(own: str, named: Sequence[str], node: cst.BaseExpression | None) -> str | None:
    """The parameter that an expression is, or brings somewhere, as a whole or item by item; None for any other."""
    match node:
        case cst.Name(value=name):
            return name if name in named else None
        case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value=method))):
            return _brought(own, named, receiver) if method in _BRINGING | _ALONG else None
        case cst.Call(func=cst.Name(value=called), args=[first, *_]) if called == own:
            return _brought(own, named, first.value)
        case cst.Call(func=cst.Name(value="list" | "tuple" | "dict"), args=[made]):
            return _brought(own, named, made.value)
        case cst.IfExp():
            arms = {_brought(own, named, arm) for arm in (node.body, node.orelse)}
            return arms.pop() if len(arms) == 1 else None
        case cst.ListComp(elt=item) | cst.GeneratorExp(elt=item) | cst.DictComp(value=item):
            drawn = [part.value for part in descend(node.for_in.target) if isinstance(part, cst.Name)]
            drawn += [node.for_in.target.value] if isinstance(node.for_in.target, cst.Name) else []
            whole = node.for_in.iter
            if isinstance(whole, cst.Call) and isinstance(whole.func, cst.Attribute) and not whole.args:
                whole = whole.func.value  # `batch.items()`
            return _brought(own, named, whole) if _brought(own, drawn, item) is not None else None
    return None


def _is_moved_somewhere(expressions: list[cst.BaseExpression | None]) -> bool:
    calls = (part for one in expressions if one is not None for part in (one, *descend(one)))
    return any(
        isinstance(call, cst.Call) and (dotted(call.func) or "").rpartition(".")[2] in _BRINGING for call in calls
    )
