"""Attributes that a constructor sets once: what a condition on one decides holds in every method of the object."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_values import Self

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
    from devlint.placement.interpreter.interpreter import Interpreter

CONSTRUCTOR = "__init__"


def switch_of(interp: Interpreter, node: cst.BaseExpression) -> str | None:
    """The name of the switch that a condition asks, the same in all methods; None if it is no such attribute.

    ``self.on_gpu`` in a method, and in the constructor that stores it ``on_gpu`` as well. Two objects of a class are
    taken to be switched alike.
    """
    if type(node) is cst.Attribute and type(node.value) is cst.Name:
        owner = interp.state.values.get(node.value.value)
        return _stored_once(owner.info, node.attr.value) if isinstance(owner, Self) else None
    if type(node) is cst.Name and interp.info is not None and interp.info.name == CONSTRUCTOR:
        attribute = _kept_as(interp.info, node.value) if not interp.state.versions.get(node.value, 0) else None
        return _stored_once(interp.info.owner, attribute) if interp.info.owner is not None and attribute else None
    return None


def _kept_as(constructor: FunctionInfo, name: str) -> str | None:
    """The attribute that is nothing but this argument."""
    if name in constructor.stores:
        # As a rule it has the same name.
        candidates: tuple[str, ...] = (name,)
    else:
        candidates = tuple(sorted(constructor.stores))
    for attribute in candidates:
        match constructor.stored_expressions.get(attribute, ()):
            case (cst.Name(value=stored),) if stored == name:
                return attribute
    return None


def _stored_once(info: ClassInfo, attribute: str) -> str | None:
    """The attribute with its class, if one statement of one constructor stores it and no other method does."""
    if any(attribute in one.assigned_outside_init for one in info.order):
        return None
    constructors = [one.methods[CONSTRUCTOR] for one in info.order if CONSTRUCTOR in one.methods]
    storing = [constructor for constructor in constructors if attribute in constructor.stores]
    if len(storing) != 1 or len(storing[0].stored_expressions.get(attribute, ())) != 1:
        return None
    return f"{storing[0].qualname}:self.{attribute}"
