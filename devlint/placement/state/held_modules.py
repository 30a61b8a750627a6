"""Modules that an object which is no Module holds: where they are once its methods have moved them."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.domain.abstract_values import Module
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, SameAs, Symbol
from devlint.placement.syntax.nodes import descend
from devlint.source.outline import PLACING


def where_methods_put_it(info: ClassInfo, name: str, module: Module) -> Module:
    """The module as a method finds it: where another method than the constructor has put it, if one does.

    Which method runs first, and with which device, is up to whoever has the object.
    """
    if info.is_module or module.device not in (CPU, UNKNOWN) or module.assumed:
        return module
    if not any(_moves(method, name) for one in info.order for method in one.methods.values()):
        return module
    return replace(module, device=SameAs(Symbol(Anchor.EXPRESSION, f"self.{name}", f"{info.qualname}:{name}{_HELD}")))


def is_put_by_methods(value: object) -> bool:
    """Whether a module is where some method puts it: in another order of calls it may still be on the CPU."""
    device = value.device if isinstance(value, Module) else UNKNOWN
    return isinstance(device, SameAs) and device.symbol.key.endswith(_HELD)


_HELD = "@held"


def _moves(method: FunctionInfo, name: str) -> bool:
    """Whether a method calls ``self.name.to`` or ``self.name.cuda``. Only what does so at all is read."""
    if method.name == "__init__" or name not in method.own.mentioned or not method.places_itself:
        return False
    return any(
        isinstance(node, cst.Call)
        and isinstance(function := node.func, cst.Attribute)
        and function.attr.value in PLACING
        and isinstance(held := function.value, cst.Attribute)
        and held.attr.value == name
        and isinstance(held.value, cst.Name)
        and held.value.value == "self"
        for node in descend(method.node.body)
    )
