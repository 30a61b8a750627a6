"""Attributes that keep one of an object's own methods, chosen when it is set up: ``self.loss = self._absolute``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_values import Function, OneOf, Self

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.interpreter.interpreter import Interpreter

_MOST = 4
"""Methods that are told apart; each call is judged for each of them."""


def stored_method(interp: Interpreter, owner: Self, name: str) -> Function | OneOf | None:
    """The method that an attribute keeps, or those of which it keeps one; None where anything else may be stored."""
    info = owner.info
    init = info.method("__init__")
    storing = [method for _, method in info.storing_later(name)] + ([] if init is None else [init])
    found: dict[str, FunctionInfo] = {}
    for method in storing:
        for expression in method.stored_expressions.get(name, ()):
            for written in _chosen(expression):
                kept = _method_named(owner, written)
                if kept is None:
                    return None
                found[kept.qualname] = kept
    callees = tuple(Function(one, f"{interp.scope.path}:{one.qualname}", owner) for one in found.values())
    if not callees or len(callees) > _MOST:
        return None
    return callees[0] if len(callees) == 1 else OneOf(callees)


def _chosen(expression: cst.BaseExpression | None) -> Iterator[cst.BaseExpression | None]:
    """The arms of ``a if test else b``, and nothing for ``None``, which is not called."""
    match expression:
        case cst.IfExp():
            yield from _chosen(expression.body)
            yield from _chosen(expression.orelse)
        case cst.Name(value="None"):
            return
        case _:
            yield expression


def _method_named(owner: Self, written: cst.BaseExpression | None) -> FunctionInfo | None:
    match written:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            method = owner.info.method(name)
            return None if method is None or method.is_property else method
    return None
