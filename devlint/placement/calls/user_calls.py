"""Calls of the project's functions and classes: their results as a function of the arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeGuard

import libcst as cst

from devlint import semantics
from devlint.placement.calls import reads_of_callees, stated_types
from devlint.placement.calls.built_with_tensors import left_on_cpu
from devlint.placement.calls.chained_calls import hands_itself_back
from devlint.placement.calls.conventional_results import of_overrides
from devlint.placement.calls.decorators import hand_through
from devlint.placement.calls.default_parts import builds_state_by_default
from devlint.placement.calls.generators_of_items import handed_through
from devlint.placement.calls.handed_up import note_handed_up
from devlint.placement.calls.inlining import call_with_values
from devlint.placement.calls.load_places import note_call
from devlint.placement.calls.misplaced_devices import note_misplaced_device
from devlint.placement.calls.modules import CONTAINERS
from devlint.placement.calls.project_objects import built_with
from devlint.placement.calls.records import held_by
from devlint.placement.calls.refused_calls import Receiver, note_refused_call
from devlint.placement.calls.registrars import register_what_is_handed
from devlint.placement.calls.summaries import (
    arguments_of,
    bind_arguments,
    handed_back,
    of_untold_object,
    result_of_call,
    substitute,
)
from devlint.placement.calls.thrown_away import note_thrown_away
from devlint.placement.calls.told_devices import note_built_untold, note_told_device
from devlint.placement.calls.unknown_models import beside_arguments
from devlint.placement.calls.what_decides import what_decides
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.known_classes import ClassKind, listed_kind
from devlint.placement.declarations.symbol_keys import symbol_key
from devlint.placement.declarations.template_methods import is_abstract
from devlint.placement.domain.abstract_values import (
    BOTTOM,
    NOTHING,
    Argument,
    ClassValue,
    Constant,
    Function,
    Host,
    Instance,
    Kind,
    Module,
    Opaque,
    Self,
    Tensor,
    UnknownValue,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.class_facts import AttributeFact
from devlint.placement.domain.lattice import CPU, UNKNOWN, SameAs, leaves
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.symbols import kept_key, made_key, module_symbol
from devlint.placement.operations.siblings import comes_in_a_batch, note_brought_to_host, note_moved_part
from devlint.placement.state.call_sites import result_key
from devlint.placement.syntax.nodes import code_of, dotted, parameters_of
from devlint.records import replace
from devlint.semantics import Dim, library_models

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def call_function(interp: Interpreter, node: cst.Call, function: Function, site: CallSite) -> Value:
    """The summary of the function with the arguments' devices substituted for those of its parameters."""
    info = function.info
    if not hand_through(interp.program, info):
        return beside_arguments(interp, node, site)
    receiver = _as_bound(function)
    named = info.owner is None and _is_named(node, info)
    note_refused_call(interp, node, info, site, Receiver.NONE if named else Receiver.OPEN)
    note_misplaced_device(interp, node, info, site, receiver is not None)
    bound = receiver is not None and info.has_receiver
    defaulted = note_told_device(interp, node, info, site, bound)
    substitution = bind_arguments(interp, info, site, receiver)
    note_handed_up(interp, info, site, bound)
    register_what_is_handed(interp, node, info, site)
    summary = interp.program.summary(info)
    if summary is None:
        # What a function gives of itself its other arms say (fixture `padded_in_turn`).
        found = BOTTOM if info is interp.info else beside_arguments(interp, node, what_decides(info, site, bound))
        return stated_types.of_result(interp, info, site, found)
    note_call(interp, node, info, site)
    note_thrown_away(interp, node, info, site, bound)
    reads_of_callees.note_call(interp, node, info, substitution, site)
    passed_on = handed_through(info, summary, substitution)
    if passed_on is not None:
        return passed_on
    seen = call_with_values(interp, node, info, site, receiver, function.captured)
    value = result_of_call(interp, node, summary, substitution) if seen is None else seen
    if isinstance(value, Self) and not value.is_super and receiver and hands_itself_back(info, receiver):
        return receiver
    if _meets_what_the_object_holds(value, function.receiver, site):
        value = replace(value, device=UNKNOWN)
    result = handed_back(interp, node, of_untold_object(value, function.receiver), defaulted)
    if isinstance(result, UnknownValue):
        result = beside_arguments(interp, node, what_decides(info, site, bound))
    result = stated_types.of_result(interp, info, site, result)
    if stated_types.is_placed_nowhere(info, result):
        result = stated_types.placed_beside(result, site, beside_arguments(interp, node, site))
    _note_moved(interp, site, result)
    _note_brought_back(interp, site, result)
    if not interp.muted and interp.depth == 0:
        interp.program.note_argument(result_key(info.qualname), result)
    return result


def _is_bottom(argument: Argument) -> bool:
    return isinstance(argument.value, UnknownValue) and argument.value.bottom


def _meets_what_the_object_holds(value: Value, receiver: Value | None, site: CallSite) -> TypeGuard[Tensor | Opaque]:
    """Whether the result is on the CPU as what the object was built with, and an argument is not: they may have met."""
    if not isinstance(receiver, Instance) or not receiver.given or not isinstance(value, (Tensor, Opaque)):
        return False
    handed = (argument.value for argument in site.arguments)
    elsewhere = (isinstance(one, (Tensor, Opaque)) and one.device != CPU for one in handed)
    return value.device == CPU and any(elsewhere)


def _as_bound(function: Function) -> Value | None:
    """What the first parameter is: a class method gets the class of the object on which it is called."""
    receiver = function.receiver
    if function.info.is_classmethod and isinstance(receiver, (Self, Module, Instance)) and receiver.info is not None:
        return ClassValue(receiver.info, receiver.info.qualname)
    return receiver


def _is_named(node: cst.Call, info: ClassInfo | FunctionInfo) -> bool:
    """Whether what is called goes by its own name: ``cls(...)`` may build a derived class, a variable holds others."""
    return (dotted(node.func) or "").rpartition(".")[2] == info.name


def _is_built_by_init(info: ClassInfo) -> bool:
    """Whether what a class is called with goes to its ``__init__``: no ``__new__``, metaclass or decorator takes it."""
    plain = all(not one.node.decorators and not _has_metaclass(one) for one in info.order)
    return plain and info.method("__new__") is None


def _has_metaclass(info: ClassInfo) -> bool:
    return any(argument.keyword is not None for argument in info.node.keywords)


def _note_moved(interp: Interpreter, site: CallSite, result: Value) -> None:
    """Record that a helper moved an item of a batch: its siblings stay, as with an explicit transfer."""
    if not isinstance(result, (Tensor, Opaque)) or result.device in (CPU, UNKNOWN) or result.provenance is None:
        return
    if result.provenance.find(StepKind.MOVED) is None:
        return
    for argument in site.positional[:1]:
        device = getattr(argument.value, "device", UNKNOWN)
        if isinstance(device, SameAs) and comes_in_a_batch(device.symbol, argument.node) and device != result.device:
            note_moved_part(interp, device.symbol, result.device)


def _note_brought_back(interp: Interpreter, site: CallSite, result: Value) -> None:
    """Record that a helper brings to the CPU what it makes of its arguments: it does not expect them there."""
    if not isinstance(result, (Tensor, Opaque)) or result.device != CPU or result.provenance is None:
        return
    moved = result.provenance.find(StepKind.MOVED)
    if moved is None or moved.scope == interp.scope or interp.under_device_guard:
        return
    for argument in site.arguments:
        if isinstance(argument.value, (Tensor, Opaque)) and not argument.star:
            for place in leaves(argument.value.device):
                note_brought_to_host(interp, place)


def call_self(interp: Interpreter, node: cst.Call, receiver: Self, name: str, site: CallSite) -> Value:
    """``self.name(...)``, by the class and its bases in the project."""
    method = receiver.info.method(name)
    if method is None or method.is_property:
        return NOTHING
    if is_abstract(method):
        return of_overrides(interp, node, receiver, method, site)
    if receiver.is_super and method.has_receiver and _goes_to(interp, node, method):
        note_refused_call(interp, node, method, site, Receiver.BOUND)
    bound = None if method.is_static else _behind_super(interp, receiver)
    return call_function(interp, node, Function(method, method.qualname, bound), site)


def _goes_to(interp: Interpreter, node: cst.Call, method: FunctionInfo) -> bool:
    """Whether ``super()`` can only mean the class of a method: up to it each class has one base, which is in sight."""
    info = interp.info.owner if interp.info is not None else None
    caller = node.func.value if isinstance(node.func, cst.Attribute) else None
    if info is None or (isinstance(caller, cst.Call) and caller.args and code_of(caller.args[0].value) != info.name):
        return False  # `super(Base, self)` goes on behind another class
    while info is not None and info is not method.owner:
        info = info.parents[0] if len(info.bases) == 1 and len(info.parents) == 1 else None
    return info is not None


def _behind_super(interp: Interpreter, receiver: Self) -> Self:
    """``super().forward(x)``: the method is the base's, ``self`` an object of the derived class."""
    first = parameters_of(interp.info.header)[:1] if interp.info is not None and receiver.is_super else ()
    own = interp.state.values.get(first[0].name.value) if first else None
    return own if isinstance(own, Self) and receiver.info in own.info.order else receiver


def construct(interp: Interpreter, node: cst.Call, callee: ClassValue, site: CallSite) -> Value:
    """An object of a project class; a Module is on the device where a factory without ``device=`` allocates."""
    info = callee.info
    init = info.method("__init__")
    if init is not None and init.keeps_signature:
        if _is_named(node, info):
            note_refused_call(interp, node, init, site, Receiver.BOUND if _is_built_by_init(info) else Receiver.OPEN)
        note_misplaced_device(interp, node, init, site, bound=True)
        note_built_untold(interp, node, init, site)
        _note_modules(interp, info, init, site)
    if info.is_module:
        device = interp.state.factory_device
        if site.keyword("device") is not None or (site.unpacks and _may_be_told_a_device(init)):
            device = UNKNOWN
        if device == CPU and init is not None and (init.places_itself or _follows_arguments(interp, info, init, site)):
            device = UNKNOWN
        holds_state = _holds_state(interp, callee)
        if holds_state is None and init is not None and builds_state_by_default(interp, init, site):
            holds_state = True
        if holds_state is None and init is not None and _keeps_state_of_arguments(interp, init, site):
            holds_state = True
        provenance = interp.step(StepKind.MADE, node, device, code_of(node.func))
        given = left_on_cpu(built_with(interp, info, site))
        made = Module(device, "", info, provenance, holds_state=holds_state, given=given)
        for one in info.order:
            interp.program.note_argument(made_key(module_symbol(one).key), made)
        return made
    if info.kind in (ClassKind.AUTOGRAD, ClassKind.OPTIMIZER):
        return NOTHING
    untold = init is not None and init.keeps_signature and note_told_device(interp, node, init, site, bound=True)
    return Instance(
        info.qualname,
        info,
        node=node,
        details=held_by(info, site),
        given=built_with(interp, info, site),
        untold=interp.scope if untold else None,
    )


def _keeps_state_of_arguments(interp: Interpreter, init: FunctionInfo, site: CallSite) -> bool:
    """Whether a constructor keeps a module with state that it is handed: ``Segmenter(encoder, decoder)``."""
    stored = {
        value.value for values in init.stored_expressions.values() for value in values if isinstance(value, cst.Name)
    }
    given = arguments_of(init, site, Module(UNKNOWN), interp.program) if stored else ()
    return any(name in stored and isinstance(value, Module) and value.holds_state is True for name, value in given)


def _may_be_told_a_device(init: FunctionInfo | None) -> bool:
    """Whether what a call unpacks may say where the object is built: ``Net(**config)``."""
    if init is None or not isinstance(init.header, cst.FunctionDef):
        return True
    declared = init.header.params
    if declared.star_kwarg is not None or isinstance(declared.star_arg, cst.Param):
        return True
    names = (parameter.name.value for parameter in parameters_of(init.header))
    return any("device" in name or "cuda" in name or "gpu" in name for name in names)


def _note_modules(interp: Interpreter, info: ClassInfo, init: FunctionInfo, site: CallSite) -> None:
    """Record the modules that an object is built with, for what its methods do with them."""
    if interp.muted or interp.depth > 0:
        return
    for name, value in arguments_of(init, site, Self(info), interp.program):
        if isinstance(value, (Module, Opaque)):
            interp.program.note_argument(kept_key(symbol_key(init, name)), value)


def _follows_arguments(interp: Interpreter, info: ClassInfo, init: FunctionInfo, site: CallSite) -> bool:
    """Whether state is computed from the constructor's arguments, or is theirs, and so is on their device."""
    values = [fact.value for fact in interp.program.facts(info).attributes.values()]
    state = [part for value in values for part in _state_in(value)]
    elsewhere = [part for part in state if part.device != CPU]
    if not elsewhere or any(map(_is_layer_on_cpu, state)):
        return False
    substitution = bind_arguments(interp, init, site, Module(UNKNOWN))
    placed = [substitute(value, substitution, interp, site.node) for value in elsewhere]
    return any(getattr(value, "device", UNKNOWN) != CPU for value in placed)


def _is_layer_on_cpu(part: Tensor | Module | Opaque) -> bool:
    """A layer that the constructor makes itself: whatever parts the object is handed, this one is on the CPU."""
    return isinstance(part, Module) and part.holds_state is True and part.device == CPU and part.info is None


def _state_in(value: Value) -> Iterator[Tensor | Module | Opaque]:
    """The parameters, buffers and modules that an attribute registers: of a container of modules those in it."""
    if isinstance(value, Tensor) and value.kind in (Kind.PARAMETER, Kind.BUFFER):
        yield value
    elif isinstance(value, Module):
        parts = [part for part in value.children if isinstance(part, (Module, Opaque))]
        yield from parts or [value]


def _holds_state(interp: Interpreter, callee: ClassValue) -> bool | None:
    """Whether the class stores a parameter, buffer or submodule with state; None if the class is not fully known.

    State without dimensions does not count: out of place it mixes with tensors on any device.
    """
    info = callee.info
    facts = list(interp.program.facts(info).attributes.values())
    kept = [fact.value.holds_state if isinstance(fact.value, Module) else None for fact in facts]
    if True in kept or any(map(_is_state, facts)) or _derives_state(info):
        return True
    filled_elsewhere = any(base in CONTAINERS for one in info.order for base in one.resolved_bases)
    unseen = (fact.value for fact in facts if fact.kind == "other")
    unseen_base = not (info.complete and all(map(_is_listed, _library_bases(info))))
    unknown = unseen_base or filled_elsewhere or not all(isinstance(value, (Constant, Host)) for value in unseen)
    return None if unknown or None in [k for f, k in zip(facts, kept, strict=True) if f.kind == "module"] else False


def _is_state(fact: AttributeFact) -> bool:
    without_dimensions = isinstance(fact.value, Tensor) and fact.value.dim is Dim.ZERO
    return fact.kind in ("parameter", "buffer") and not without_dimensions


def _derives_state(info: ClassInfo) -> bool:
    """Whether it derives from a module of a library that has parameters or buffers: ``Norm(nn.LayerNorm)``."""
    return any(map(_builds_state, _library_bases(info)))


def _builds_state(base: str) -> bool:
    known = semantics.module(base)
    if known is not None:
        return known.holds_state is True
    effect = library_models.effect(base)
    return effect is not None and effect.name == "module" and effect.state is True


def _is_listed(base: str) -> bool:
    """Whether a table tells what the class of a library is: of others nobody knows what state their objects hold."""
    return semantics.module(base) is not None or listed_kind(base) is not None


def _library_bases(info: ClassInfo) -> Iterator[str]:
    return (base for one in info.order for base in one.resolved_bases if isinstance(base, str))
