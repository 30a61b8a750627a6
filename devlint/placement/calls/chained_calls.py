"""Methods that give their object back, for a chain of calls: it is where it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

import libcst as cst

from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.domain.abstract_values import Instance, Module, Value
from devlint.placement.syntax.nodes import descend, dotted
from devlint.source.outline import PLACING


def hands_itself_back(info: FunctionInfo, receiver: Value | None) -> TypeGuard[Module | Instance]:
    """``Reducer(3).fit(x)``: the object whose method it is, where that is (fixture `fitted_in_a_chain`).

    Unless a method of it may bring it elsewhere.
    """
    if not isinstance(receiver, (Module, Instance)) or info.owner is None:
        return False
    methods = (method for one in info.owner.order for method in one.methods.values())
    return not any(method.places_itself and _brings_parts(method) for method in methods)


def _brings_parts(method: FunctionInfo) -> bool:
    """Whether a method brings its object, or a part of it by its name, to a place: not just where it is used."""
    return any(map(_is_brought, _lasting(method)))


def _lasting(method: FunctionInfo) -> Iterator[cst.BaseExpression]:
    """The expressions of a method whose value is left alone, handed back, or kept by the object."""
    for node in descend(method.node.body):
        if not isinstance(node, (cst.Expr, cst.Return, cst.Assign)) or node.value is None:
            continue
        if not isinstance(node, cst.Assign) or any(_of_self(target.target) for target in node.targets):
            yield node.value


def _is_brought(value: cst.BaseExpression) -> bool:
    """``self.net.to(device)``, and the same inside of what is kept."""
    placed = (node.value for node in descend(value) if isinstance(node, cst.Attribute) and node.attr.value in PLACING)
    return any(map(_of_self, placed))


def _of_self(node: cst.BaseExpression) -> bool:
    return (dotted(node) or "").partition(".")[0] == "self"
