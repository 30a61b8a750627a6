"""Modules that an object which is no Module holds: where they are once its methods have moved them."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.evidence_names import names_a_module
from devlint.placement.declarations.evidence_uses import uses_in
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.domain.abstract_values import NONE, NOTHING, Module, Opaque, Value
from devlint.placement.domain.events import Moved
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Anchor,
    SameAs,
    Symbol,
    is_accelerator,
    is_of_parameter,
    is_set_as_device,
)
from devlint.placement.domain.provenance import Provenance, Step, StepKind, extend, was_moved
from devlint.placement.syntax.nodes import FunctionNode, descend, string_value
from devlint.records import replace
from devlint.source.outline import PLACING

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def where_methods_put_it(interp: Interpreter, info: ClassInfo, name: str, module: Module) -> Module:
    """The module as a method finds it: where another method than the constructor has put it, if one does.

    Which method runs first, and with which device, is up to whoever has the object.
    """
    came_in = _comes_in(module) and interp.info is not None and interp.info.name != "__init__"
    if info.is_module or (module.device not in (CPU, UNKNOWN) and not came_in) or module.assumed:
        return module
    if _is_listed(info, name):
        # ``self.models = [self.encoder, self.decoder]``: who goes through the list may move it.
        return replace(module, device=UNKNOWN)
    moving = [(method.owner or info, method) for method in info.mentioning(name) if _moves(method, name)]
    if not moving:
        return module
    if came_in and any(method is interp.info or _brings_back(method, name) for _, method in moving):
        return module
    moves = (moved for one, method in moving if (moved := _move_in(interp, one, method, name)) is not None)
    move = next(moves, None)
    provenance = module.provenance if move is None else extend(module.provenance, _step(move))
    return _held(info, name, replace(module, provenance=provenance))


def _comes_in(module: Module) -> bool:
    """Whether the constructor was handed the module, and keeps it as it came."""
    given = is_of_parameter(module.device)
    return given and not was_moved(module.provenance)


def _move_in(interp: Interpreter, holder: ClassInfo, method: FunctionInfo, name: str) -> Moved | None:
    """The move of what an attribute holds, in a method that another one reads it after."""
    program = interp.program.holder(holder) or interp.program
    for event in program.events_of(method):
        if isinstance(event, Moved) and event.receiver_text == f"self.{name}" and event.moves and event.target != CPU:
            return event
    return None


def _step(move: Moved) -> Step:
    return Step(StepKind.MOVED, move.node, move.scope, move.target, f".{move.method}()")


def _is_asked_for(move: Moved, name: str) -> bool:
    """Whether a condition decides the move, ``if use_gpu:``, other than whether the attribute was stored before."""
    return any(f"self.{name}" not in decided.guard.text for decided in move.arms)


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


def put_by_another(interp: Interpreter, info: ClassInfo, name: str) -> Module | None:
    """The module that other methods keep for the running one: where they place it, or on the CPU as they built it."""
    return _placed_by_another(interp, info, name) or _left_by_methods(interp, info, name)


def _placed_by_another(interp: Interpreter, info: ClassInfo, name: str) -> Module | None:
    """The module that methods build, place and keep: ``self.net = Net().to(self.device)`` of a ``fit``.

    The other methods find it there. None where a method keeps one that it does not place, or brings it back.
    """
    methods = info.storing_later(name)
    if info.is_module or not methods or any(method is interp.info for _, method in methods):
        return None
    if not all(method.places_itself for _, method in methods):
        return None
    if any(_brings_back(method, name) for method in info.mentioning(name)):
        return None
    placed: list[Module | Opaque] = []
    asked_for = False
    for holder, method in methods:
        moved = _move_in(interp, holder, method, name) if _moves(method, name) else None
        for value in _kept_by(interp, holder, method, name):
            if moved is not None:
                placed.append(_placed(value, _step(moved)))
                asked_for = asked_for or _is_asked_for(moved, name)
            elif isinstance(value, (Module, Opaque)) and is_set_as_device(value.device):
                placed.append(value)
            elif value != NONE:
                return None
    first = placed[0] if placed else None
    if isinstance(first, Module) and not first.assumed:
        return first if is_accelerator(first.device) and not asked_for else _held(info, name, first)
    if first is None or not was_moved(first.provenance) or not is_called_here(interp, name):
        return None
    return _held(info, name, Module(UNKNOWN, provenance=first.provenance))


def _left_by_methods(interp: Interpreter, info: ClassInfo, name: str) -> Module | None:
    """The module that other methods build and keep, where no method of the class puts it anywhere.

    ``self.net = Net()`` of a ``build``, ``self.net(x)`` of a ``predict``. None where some method keeps another value,
    or hands the module to what may move it.
    """
    methods = info.storing_later(name)
    if info.is_module or info.kind is ClassKind.UNKNOWN or any(method is interp.info for _, method in methods):
        return None
    every = list(info.mentioning(name))
    if any(_moves(method, name) for method in every) or _is_listed(info, name):
        return None
    if any(_hands_over(method, name) for method in every if method is not interp.info):
        return None
    built: list[Module] = []
    for holder, method in methods:
        for value in _kept_by(interp, holder, method, name):
            if isinstance(value, Module) and value.device == CPU and not value.assumed:
                built.append(value)
            elif value != NONE:
                return None
    return built[0] if built else None


def _hands_over(method: FunctionInfo, name: str) -> bool:
    """Whether a method gives the attribute to a call: what is called may move it in place."""
    return name in method.find(_handed_over)


def _handed_over(node: FunctionNode) -> frozenset[str]:
    """The attributes of names that are arguments of calls."""
    arguments = (argument.value for call in descend(node.body) if type(call) is cst.Call for argument in call.args)
    return frozenset(
        argument.attr.value
        for argument in arguments
        if type(argument) is cst.Attribute and type(argument.value) is cst.Name
    )


def _placed(value: Value, moved: Step) -> Module | Opaque:
    """What is moved by a statement after it was stored."""
    if isinstance(value, (Module, Opaque)):
        return replace(value, device=moved.device, provenance=extend(value.provenance, moved))
    return Opaque(moved.device, Provenance(moved))


def _kept_by(interp: Interpreter, holder: ClassInfo, method: FunctionInfo, name: str) -> list[Value]:
    """What a method stores under an attribute; what is not known where not all of it was seen."""
    program = interp.program.holder(holder)
    stores = program.stores_of(method) if program is interp.program else None
    values = list(stores.later.get((method.qualname, name), {}).values()) if stores is not None else []
    return values if len(values) == len(method.stored_expressions.get(name, ())) else [NOTHING]


def is_called_here(interp: Interpreter, name: str) -> bool:
    """Whether the running method calls the attribute, or a method of it, with arguments: no tensor is called."""
    return interp.info is not None and name in uses_in(interp.info, interp.index.imports).called


def is_an_object_here(interp: Interpreter, name: str) -> bool:
    """Whether the running method calls the attribute, or reads of it what neither None nor a tensor has."""
    if interp.info is None:
        return False
    uses = uses_in(interp.info, interp.index.imports)
    return name in uses.called or bool(uses.members.get(f"self.{name}"))


def is_called_by_methods(interp: Interpreter, path: str) -> bool:
    """Whether it is an attribute of ``self`` that other methods call, and that is called what modules are called.

    ``self.model.to(device)`` of a constructor then moves it in place, whatever made it.
    """
    me, _, name = path.partition(".")
    owner = interp.info.owner if interp.info is not None else None
    if me != "self" or owner is None or not names_a_module(name):
        return False
    users = (method for method in owner.methods.values() if method.mentions(name))
    return any(name in uses_in(method, interp.index.imports).called for method in users)


def is_put_by_methods(value: object) -> bool:
    """Whether a module is where some method puts it: in another order of calls it may still be on the CPU."""
    device = value.device if isinstance(value, Module) else UNKNOWN
    return isinstance(device, SameAs) and device.symbol.key.endswith(_HELD)


_HELD = "@held"


def _moves(method: FunctionInfo, name: str) -> bool:
    """Whether a method calls ``self.name.to`` or ``self.name.cuda``; ``.to("meta")`` gives the memory back alone."""
    if method.name == "__init__" or not method.places_itself:
        return False
    calls = _transfers(method, name, PLACING)
    return not all(any(_names(argument.value, "meta") for argument in call.args) for call in calls)


def _brings_back(method: FunctionInfo, name: str) -> bool:
    """Whether a method calls ``self.name.cpu()`` or ``self.name.to("cpu")``."""
    return any(
        call.func.attr.value == "cpu" or any(_names(argument.value, "cpu") for argument in call.args)
        for call in _transfers(method, name, PLACING | {"cpu"})
        if isinstance(call.func, cst.Attribute)
    )


def _names(node: cst.BaseExpression, device: str) -> bool:
    """Whether it is that name, or has it somewhere inside: ``torch.device("cpu")``."""
    return any(
        string_value(part.value) == device for part in (node, *descend(node)) if isinstance(part, cst.SimpleString)
    )


def _transfers(method: FunctionInfo, name: str, ways: Container[str]) -> Iterator[cst.Call]:
    """The calls of ``self.name.to`` and the like. Only what mentions the attribute at all is read."""
    if not method.mentions(name):
        return
    for call in method.calls_of_attributes.get(name, ()):
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in ways:
            yield call
