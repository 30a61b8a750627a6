"""Objects of the project's own classes that are no Modules: what they were built with, and what their attributes hold.

Class facts and summaries speak of an object in terms of its constructor's parameters: ``self.device`` is the ``device``
that it was told. Where the construction is in sight the arguments are known (:attr:`Instance.given`), and with them
what the object's methods give and its attributes hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.object_changes import is_stored_outside
from devlint.placement.calls.own_attributes import of_self, property_value
from devlint.placement.calls.summaries import arguments_of, of_untold_object, substitute
from devlint.placement.declarations.definitions import ClassInfo
from devlint.placement.declarations.symbol_keys import symbol_key
from devlint.placement.domain.abstract_values import (
    NONE,
    NOTHING,
    Argument,
    DeviceName,
    Instance,
    Module,
    Opaque,
    Self,
    Tensor,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import UNKNOWN, SameAs, leaves
from devlint.placement.state.devices import expression_device

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def built_with(interp: Interpreter, info: ClassInfo, site: CallSite) -> tuple[tuple[str, Value], ...]:
    """The arguments of a construction, and the defaults of what it leaves out, by the keys of their symbols."""
    init = info.method("__init__")
    if init is None or not init.keeps_signature:
        return ()
    bound = arguments_of(init, site, Self(info), interp.program)
    return tuple(
        (symbol_key(init, name), value if value != NOTHING else _device_told(interp, site.argument(name, position)))
        for position, (name, value) in enumerate(bound)
    )


def _device_told(interp: Interpreter, given: Argument | None) -> Value:
    """A device of which nothing more is known than its name: ``Agent(net, device=self.device)``."""
    if given is None or not isinstance(given.node, (cst.Name, cst.Attribute)):
        return NOTHING
    device = expression_device(interp, given.node)
    name = device.symbol.name if isinstance(device, SameAs) else ""
    return DeviceName(device, None, name) if name.rpartition(".")[2] == "device" else NOTHING


def of_object(interp: Interpreter, owner: Instance, name: str, node: cst.Attribute) -> Value:
    """An attribute of an object, by its class: a property, or what the constructor put there and nothing replaces."""
    info = owner.info
    if info is None or info.is_module or is_stored_outside(interp, node):
        return NOTHING
    me, method = Self(info), info.method(name)
    if method is not None:
        if not method.is_property:
            return NOTHING
        return of_untold_object(_in_sight(info, property_value(interp, me, method, dict(owner.given))), owner)
    held = substitute(of_self(interp, me, name), dict(owner.given), interp, None)
    # `self.device = None` of a constructor: it is told one before anybody asks for it.
    if held == NONE and name.endswith("device"):
        return NOTHING
    return of_untold_object(_in_sight(info, held), owner)


def _in_sight(info: ClassInfo, value: Value) -> Value:
    """Nothing, where a value is where an argument of the construction is, and that is not known."""
    if not isinstance(value, (Tensor, Opaque, Module, DeviceName)):
        return value
    own = tuple(symbol_key(init, "") for init in info.constructors)
    followed = [leaf.symbol.key if isinstance(leaf, SameAs) else "" for leaf in leaves(value.device)]
    is_open = UNKNOWN in leaves(value.device) or any(key.startswith(own) for key in followed if own)
    return NOTHING if is_open else value
