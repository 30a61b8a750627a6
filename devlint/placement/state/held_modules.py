"""Modules that an object which is no Module holds: where they are once its methods have moved them."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.domain.abstract_values import Module
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, SameAs, Symbol, is_accelerator, is_set_as_device
from devlint.placement.syntax.nodes import descend
from devlint.source.outline import PLACING

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def where_methods_put_it(info: ClassInfo, name: str, module: Module) -> Module:
    """The module as a method finds it: where another method than the constructor has put it, if one does.

    Which method runs first, and with which device, is up to whoever has the object.
    """
    if info.is_module or module.device not in (CPU, UNKNOWN) or module.assumed:
        return module
    if _is_listed(info, name):
        # ``self.models = [self.encoder, self.decoder]``: who goes through the list may move it.
        return replace(module, device=UNKNOWN)
    if not any(_moves(method, name) for one in info.order for method in one.methods.values()):
        return module
    return _held(info, name, module)


def _is_listed(info: ClassInfo, name: str) -> bool:
    """Whether a constructor keeps the module in a list, a tuple or a dict of its own as well."""
    kept = (value for method in info.constructors for values in method.stored_expressions.values() for value in values)
    return any(
        isinstance(part, cst.Attribute) and part.attr.value == name and isinstance(part.value, cst.Name)
        for value in kept
        if isinstance(value, (cst.List, cst.Tuple, cst.Dict))
        for part in descend(value)
    )


def _held(info: ClassInfo, name: str, module: Module) -> Module:
    return replace(module, device=SameAs(Symbol(Anchor.EXPRESSION, f"self.{name}", f"{info.qualname}:{name}{_HELD}")))


def placed_by_another(interp: Interpreter, info: ClassInfo, name: str) -> Module | None:
    """The module that one method alone builds, places and keeps: ``self.net = Net().to(self.device)`` of a ``fit``.

    The other methods find it there. None where any method moves what is kept.
    """
    methods = [(one, method) for one in info.order for method in one.assigned_outside_init.get(name, ())]
    if info.is_module or len(methods) != 1 or methods[0][1] is interp.info:
        return None
    (holder, method), *_ = methods
    if not method.places_itself or len(method.stored_expressions.get(name, ())) != 1:
        return None
    if any(_moves(one, name, _ANYWHERE) for parent in info.order for one in parent.methods.values()):
        return None
    program = interp.program.holder(holder)
    stores = program.stores_of(method) if program is interp.program else None
    values = list(stores.later.get((method.qualname, name), {}).values()) if stores is not None else []
    module = values[0] if len(values) == 1 else None
    if not isinstance(module, Module) or module.assumed or not is_set_as_device(module.device):
        return None
    return module if is_accelerator(module.device) else _held(info, name, module)


def is_put_by_methods(value: object) -> bool:
    """Whether a module is where some method puts it: in another order of calls it may still be on the CPU."""
    device = value.device if isinstance(value, Module) else UNKNOWN
    return isinstance(device, SameAs) and device.symbol.key.endswith(_HELD)


_HELD = "@held"


_ANYWHERE = PLACING | {"cpu"}


def _moves(method: FunctionInfo, name: str, ways: Container[str] = PLACING) -> bool:
    """Whether a method calls ``self.name.to`` or ``self.name.cuda``. Only what does so at all is read."""
    if method.name == "__init__" or name not in method.own.mentioned:
        return False
    if ways is PLACING and not method.places_itself:
        return False
    return any(
        isinstance(node, cst.Call)
        and isinstance(function := node.func, cst.Attribute)
        and function.attr.value in ways
        and isinstance(held := function.value, cst.Attribute)
        and held.attr.value == name
        and isinstance(held.value, cst.Name)
        and held.value.value == "self"
        for node in descend(method.node.body)
    )
