"""Calls by which a Module takes tensors and modules under names: ``register_buffer``, ``add_state``, items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.constructor_facts import note_attribute, note_buffer
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.keyword_stores import stores_its_keywords
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Argument,
    Constant,
    Container,
    Evidence,
    Kind,
    Module,
    Self,
    Tensor,
    Value,
    innermost_of,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import SameAs
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.symbols import module_symbol
from devlint.placement.syntax.nodes import code_of, parameters_of, path_of
from devlint.records import replace

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


REGISTERING = frozenset({"register_buffer", "register_parameter", "add_module", "register_module", "add_state"})
_REGISTERED_AS = {"register_buffer": "tensor", "register_parameter": "param", "add_state": "default"}
"""For each registering method, the parameter with the registered value; for other methods it is ``module``."""


def register(interp: Interpreter, node: cst.Call, receiver: Self, name: str, site: CallSite) -> Value:
    key = site.argument("name", 0)
    value = site.argument(_REGISTERED_AS.get(name, "module"), 1) or _of_override(receiver, name, site)
    if key is None or value is None or not isinstance(key.value, Constant):
        interp.object_stores.dynamic.add(receiver.info)
        if key is not None and value is not None and isinstance(value.value, Module):
            # Under a name that nobody can write, so that it is found by where it was made.
            note_attribute(interp, receiver, code_of(key.node), value.value, node)
        return NOTHING
    stored = value.value
    if name == "add_state" and not isinstance(stored, Tensor):
        stored = _state_list(interp, receiver, node)
    if name in ("register_buffer", "add_state"):
        note_buffer(interp, receiver.info, str(key.value.value))
    if isinstance(stored, Tensor):
        stored = replace(stored, kind=Kind.PARAMETER if name == "register_parameter" else Kind.BUFFER)
    note_attribute(interp, receiver, str(key.value.value), stored, node)
    interp.state.store(f"self.{key.value.value}", stored)
    return NOTHING


def _of_override(receiver: Self, name: str, site: CallSite) -> Argument | None:
    """The registered value by the name that the class's own ``register_parameter(name, parameter)`` gives it."""
    method = receiver.info.method(name)
    parameters = parameters_of(method.header)[2:3] if method is not None else []
    if parameters:
        return site.keyword(parameters[0].name.value)
    return site.keyword("parameter") if name == "register_parameter" else None  # so gpytorch.Module calls it


def _state_list(interp: Interpreter, receiver: Self, node: cst.Call) -> Value:
    """A metric's list state: appended items are on the metric's device, and move with it."""
    device = SameAs(module_symbol(receiver.info))
    provenance = interp.step(StepKind.REGISTERED, node, device, code_of(node.func))
    return Container((), None, Tensor(device, kind=Kind.BUFFER, evidence=Evidence.LIKELY, provenance=provenance))


def store_keywords(interp: Interpreter, node: cst.Call, receiver: Self, method: FunctionInfo, site: CallSite) -> None:
    """``self.register_modules(vae=vae)``: the constructor's object has an attribute of each name."""
    if not any(argument.keyword is not None for argument in site.arguments):
        return
    if not interp.program.builds(interp.info, receiver.info) or not stores_its_keywords(method):
        return
    own = {parameter.name.value for parameter in parameters_of(method.header)}
    for argument in site.arguments:
        if argument.keyword is not None and argument.keyword not in own:
            note_attribute(interp, receiver, argument.keyword, argument.value, argument.node)
            interp.state.store(f"self.{argument.keyword}", argument.value)


def register_items(interp: Interpreter, node: cst.Call, site: CallSite) -> None:
    """``super().__init__(conv, norm)`` of a class that derives from a container: items are named by their indices."""
    given = [part for argument in site.arguments for part in innermost_of(argument.value) if isinstance(part, Module)]
    assert interp.info is not None
    assert interp.info.owner is not None
    receiver = Self(interp.info.owner)
    for index, module in enumerate(given):
        note_attribute(interp, receiver, str(index), module, node)


_FILLING = frozenset({"append", "extend", "insert", "add_module", "register_module", "update"})


def fill_container(interp: Interpreter, container: Module, function: cst.Attribute, site: CallSite) -> None:
    """``self.layers.append(nn.Linear(3, 3))``: a container has the state of what is put into it where it is itself."""
    path = path_of(function.value)
    if path is None or function.attr.value not in _FILLING or container.holds_state is True:
        return
    put = (part for argument in site.arguments for part in innermost_of(argument.value))
    if any(isinstance(part, Module) and part.holds_state and part.device == container.device for part in put):
        interp.state.values[path] = replace(container, holds_state=True)
