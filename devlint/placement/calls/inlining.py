"""Inlining: at a call that passes a CPU tensor, the callee is evaluated again with the actual arguments.

A summary holds for arguments on any device. Whether a mask that the caller created on the CPU is combined in the callee
with arguments on another device depends on both, so each such call is evaluated. Only mismatches of the passed tensors
are reported at the call: others are reported for the callee itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.built_with_tensors import (
    as_built,
    attributes_as_built,
    is_left_by_its_caller,
    kept_models,
    kept_on_cpu,
)
from devlint.placement.calls.conventional_results import of_maker
from devlint.placement.calls.handed_as_placed import (
    as_loaded,
    handed_values,
    is_told_in_callee,
    meets_in_model,
    meets_model,
    moved_models,
    names_of_models,
    note_parted,
    read_with_model,
    stayed_as_loaded,
)
from devlint.placement.calls.inherited_reads import read_of_derived
from devlint.placement.calls.kept_so_far import kept_so_far
from devlint.placement.calls.parameters import bind_parameters, scope_of
from devlint.placement.calls.parted_batches import met_by, parted_items
from devlint.placement.calls.summaries import arguments_of, gathered_of, place_of
from devlint.placement.calls.typed_by_calls import meets, typed_by_call
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.symbol_keys import symbol_key
from devlint.placement.domain.abstract_values import (
    Argument,
    ClassValue,
    Constant,
    Container,
    DeviceName,
    Function,
    Instance,
    Module,
    Opaque,
    Self,
    Tensor,
    Value,
    as_tensor,
    innermost_of,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import Called, DeviceMismatch, HostRead
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Choice,
    Device,
    GuardKind,
    SameAs,
    assume,
    choose,
    guards_of,
    may_be_cpu,
    placed,
)
from devlint.placement.domain.provenance import Provenance, Step, StepKind
from devlint.placement.domain.symbols import module_symbol
from devlint.placement.interpreter.interpreter import Interpreter
from devlint.placement.operations.operands import device_of_value
from devlint.placement.state import first_rounds
from devlint.placement.state.built_in_call import built_here
from devlint.placement.state.given_values import is_put_on_a_device
from devlint.placement.state.held_modules import is_put_by_methods
from devlint.placement.syntax.nodes import parameters_of
from devlint.records import replace
from devlint.semantics import Relation

if TYPE_CHECKING:
    from devlint.placement.interpreter.program import Program

MAX_INLINED_CALLS = 4
"""Depth of nested calls through which an argument is followed; each level may multiply the work."""


def call_with_values(
    interp: Interpreter,
    node: cst.Call,
    info: FunctionInfo,
    site: CallSite,
    receiver: Value | None,
    captured: Mapping[str, Value] | None = None,
) -> Value | None:
    """The result of the call for its actual arguments; None if no argument requires inlining.

    So does a function that moves what it is called with, a class of modules, a part of a batch of which another was
    moved, and a function that was defined in a walk for another call, where it ``captured`` the values of that.
    Mismatches of arguments inside the callee are emitted by the caller's evaluation.
    """
    site = _in_iterations(interp, site)
    modules = tuple(_built_for(interp, node, site)) if interp.depth < MAX_INLINED_CALLS else ()
    handed = [*(step for argument in site.arguments for step in _made_on_cpu(argument.value)), *modules]
    handed += read_of_derived(interp.program, info, receiver)
    kept = kept_on_cpu(interp, receiver, node)
    so_far = kept_so_far(interp, info, receiver)
    handed += (step for value in kept.values() for step in _made_on_cpu(value))
    given = list(typed_by_call(interp, info, site, receiver))
    moves = captured is not None or bool(so_far) or any(map(_is_called_there, site.arguments))
    left = parted_items(interp, site)
    loaded = as_loaded(interp, site)
    kept_placed = kept_models(interp, receiver)
    models = moved_models(interp, (*handed_values(site), *kept_placed.values()))
    if (
        not (handed or given or moves or left or loaded or models)
        or interp.muted
        or interp.depth >= MAX_INLINED_CALLS
        or info.is_generator
    ):
        return None
    definition = info.node
    program = interp.program.holder(info)
    if program is None and captured is not None:
        program = interp.program  # defined in a walk of this module
    if not isinstance(definition, cst.FunctionDef) or program is None or program.is_running(info):
        return None
    inner = _evaluate(interp, program, info, definition, site, receiver, modules, captured, kept, so_far, kept_placed)
    doubtful = is_put_by_methods(receiver) or _is_of_its_class_by_convention(receiver)
    told = _told_at_construction(receiver)
    reads = [event for event in inner.events if isinstance(event, HostRead)] if models else []
    given_there = arguments_of(info, site, receiver, interp.program) if models else ()
    kept_there = (attribute for attribute, _ in attributes_as_built(info.owner, kept_placed))
    called = names_of_models(given_there, kept_there, models)
    for read in read_with_model(interp, info, site, receiver, reads):
        interp.emit(replace(read, calls=((node, interp.scope), *read.calls)))
    for event in inner.events:
        if not isinstance(event, DeviceMismatch) or event.if_brought or (told and not _happens(interp, event, told)):
            continue
        if kept:
            event = as_built(event, kept)
            if is_left_by_its_caller(event, receiver):
                continue
        if is_about(event, handed, inner.places) or (given and meets(interp, event, info, given)):
            calls = ((node, interp.scope), *event.calls)
            interp.emit(replace(event, calls=calls, assumed=event.assumed or doubtful))
        elif (argument := met_by(event, left, node, inner)) is not None:
            calls = ((argument, interp.scope), *event.calls)
            interp.emit(replace(event, calls=calls, assumed=event.assumed or doubtful))
        elif is_told_in_callee(interp, info, event):
            continue
        elif (
            (argument := stayed_as_loaded(event, loaded, node, info))
            or meets_model(event, models, inner.places)
            or meets_in_model(event, called)
        ):
            calls = ((argument or node, interp.scope), *event.calls)
            interp.emit(replace(event, calls=calls, assumed=event.assumed or doubtful))
    # Tests of an argument's type (``if torch.is_tensor(x): return x``) the summary decides by what is handed over.
    note_parted(interp, loaded, inner)
    return _settled(inner, of_maker(inner, info, inner.result())) if handed or moves or left or loaded else None


def meets_own_state(
    interp: Interpreter, info: FunctionInfo, site: CallSite, receiver: Module, argument: Argument, steps: int = 2
) -> bool:
    """Whether a method of a module computes with an argument and with the module's own state, which are apart.

    Or whether another method does that it hands the argument to, as ``forward``, over as many ``steps``.
    """
    definition, program = info.node, interp.program.holder(info)
    if interp.muted or interp.depth >= MAX_INLINED_CALLS or info.is_generator:
        return False
    if not isinstance(definition, cst.FunctionDef) or program is None or program.is_running(info):
        return False
    inner = _evaluate(interp, program, info, definition, site, receiver, (), None)
    there = device_of_value(argument.value)
    own = [parameter.name.value for parameter in parameters_of(definition)[:1] if info.has_receiver]

    def is_own(device: Device) -> bool:
        return device != CPU and placed(device, inner.places) == CPU

    for event in inner.events:
        if isinstance(event, DeviceMismatch) and not (event.arms or event.if_brought):
            sides = [device_of_value(operand.value) for operand in (event.offending, event.other)]
            if there in sides and any(map(is_own, sides)):
                return True
        elif isinstance(event, Called) and not event.arms and (isinstance(event.receiver, Self) or event.name in own):
            handed = next((one for one in event.call.arguments if device_of_value(one.value) == there), None)
            named = "forward" if event.name in own else event.name.lstrip(".")
            other = receiver.info.method(named) if receiver.info is not None else None
            if handed is None:
                continue
            # A part that the module was handed is taken to be where the module is, and so is what it gives.
            if other is None and is_own(device_of_value(event.result)):
                return True
            if other is not None and steps and meets_own_state(interp, other, event.call, receiver, handed, steps - 1):
                return True
    return False


def _in_iterations(interp: Interpreter, site: CallSite) -> CallSite:
    """The call with what its arguments may be: the callee runs no loop of the caller's on trial, as operations do.

    The trial round, which is the first iteration, notes what is on the CPU then; other arguments are not.
    """
    if not interp.counted:
        return site
    if interp.muted:
        late = first_rounds.is_later(interp)
        for argument in site.arguments if not late else ():
            devices = map(device_of_value, innermost_of(argument.value))
            if any(may_be_cpu(first_rounds.at_first(interp, device)) for device in devices):
                interp.begun.add(id(argument.node))
        return site
    arguments = [
        argument
        if id(argument.node) in interp.begun or not isinstance(argument.value, (Tensor, Opaque))
        else replace(argument, value=replace(argument.value, device=_later(argument.value.device)))
        for argument in site.arguments
    ]
    return replace(site, arguments=tuple(arguments))


def _later(device: Device) -> Device:
    """The device after the first iteration of the loops."""
    for guard in guards_of(device):
        if guard.kind is GuardKind.FIRST_ITERATION:
            device = assume(device, guard, False)
    return device


def _is_called_there(argument: Argument) -> bool:
    """Whether what the callee gives depends on a function or class that it is handed, and calls.

    ``apply_to_all(to_cuda, batch)`` gives what is where the function puts it, ``make_layers(Block, 3)`` modules.
    """
    match argument.value:
        case Function(info=info):
            return info.places_itself
        case ClassValue(info=made):
            return made.is_module
    return False


def _is_of_its_class_by_convention(receiver: Value | None) -> bool:
    """Whether nothing but how a parameter is used says of which class it is."""
    if not isinstance(receiver, Module) or receiver.provenance is None:
        return False
    return receiver.provenance.first.kind is StepKind.GIVEN and bool(receiver.provenance.first.note)


def _evaluate(
    interp: Interpreter,
    program: Program,
    info: FunctionInfo,
    definition: cst.FunctionDef,
    site: CallSite,
    receiver: Value | None,
    modules: tuple[Step, ...],
    captured: Mapping[str, Value] | None,
    kept: Mapping[str, Tensor] | None = None,
    so_far: Mapping[str, Tensor] | None = None,
    models: Mapping[str, Module] | None = None,
) -> Interpreter:
    inner = Interpreter(program, interp.handlers, scope_of(info, program.path, program.role), info, interp.depth + 1)
    inner.state.default_device = interp.state.default_device
    inner.state.context_device = interp.state.context_device
    inner.state.on_cpu = interp.state.on_cpu
    inner.state.moved_groups = dict(interp.state.moved_groups)
    inner.state.moved_in_arms = interp.state.moved_in_arms
    inner.handed_modules = modules
    inner.kept_on_cpu = kept or {}
    inner.kept_models = models or {}
    if captured is not None:
        inner.closure = dict(captured)
    inner.places = {**interp.places, **_place_of_self(interp, info, receiver)}
    bind_parameters(inner, info)
    first = parameters_of(definition)[:1]
    if first and receiver is not None and info.has_receiver:
        inner.state.values[first[0].name.value] = _as_self(receiver, inner.state.values[first[0].name.value])
        for attribute, built in attributes_as_built(info.owner, inner.kept_on_cpu):
            inner.state.values[f"{first[0].name.value}.{attribute}"] = built
        for attribute, model in attributes_as_built(info.owner, inner.kept_models):
            inner.state.values[f"{first[0].name.value}.{attribute}"] = model
        for attribute, stored in (so_far or {}).items():
            inner.state.values[f"{first[0].name.value}.{attribute}"] = stored
    for name, value in arguments_of(info, site, receiver, interp.program):
        inner.state.values[name] = _as_used(value, inner.state.values.get(name))
        if isinstance(value, (Tensor, Opaque)):
            # What is defined inside is evaluated once, with what any call gives: it tells of the parameters by symbol.
            inner.places[symbol_key(info, name)] = placed(value.device, interp.places)
    inner.state.values.update(gathered_of(info, site, receiver))
    with program.running(info):
        inner.run_definition(definition)
    if program is interp.program:
        interp.object_stores.add(inner.object_stores)
    return inner


def _place_of_self(interp: Interpreter, info: FunctionInfo, receiver: Value | None) -> dict[str, Device]:
    """``self`` of the callee is where the receiver is, by the symbols that its class and the method's go by.

    What an object that is no Module holds is where the arguments of its construction are.
    """
    if isinstance(receiver, Instance):
        places = {key: place_of(value, interp) for key, value in receiver.given}
        return {key: device for key, device in places.items() if device != UNKNOWN}
    if not isinstance(receiver, Module):
        return {}
    device = placed(receiver.device, interp.places)
    symbols = {module_symbol(one) for one in (info.owner, receiver.info) if one is not None}
    return {symbol.key: device for symbol in symbols if device != SameAs(symbol)}


def _told_at_construction(receiver: Value | None) -> dict[str, bool]:
    """The outcomes of conditions on what an object was built with, by the keys of their guards: ``cuda=False``.

    In the constructor a condition asks the parameter; in a method, the attribute that keeps it.
    """
    init = receiver.info.method("__init__") if isinstance(receiver, Instance) and receiver.info is not None else None
    if not isinstance(receiver, Instance) or init is None:
        return {}
    given = {key.rpartition(":")[2]: value for key, value in receiver.given}
    told = {name: bool(value.value) for name, value in given.items() if isinstance(value, Constant)}
    outcomes = {f"{init.qualname}:{name}@": outcome for name, outcome in told.items()}
    for attribute in init.stores if told else ():
        match init.stored_expressions.get(attribute, ()):
            case (cst.Name(value=name),) if name in told:
                outcomes[f"{init.qualname}:self.{attribute}@"] = told[name]
    return outcomes


def _happens(interp: Interpreter, event: DeviceMismatch, told: Mapping[str, bool]) -> bool:
    """Whether the operands are still apart in the arms that an object takes which is built like that."""
    if any(told.get(arm.guard.key, arm.holds) is not arm.holds for arm in event.arms):
        return False
    sides = [device_of_value(operand.value) for operand in (event.offending, event.other)]
    mine, theirs = (_in_arms(device, told) for device in sides)
    return [mine, theirs] == sides or interp.relate(mine, theirs) is Relation.DIFFERENT


def _in_arms(device: Device, told: Mapping[str, bool]) -> Device:
    if not isinstance(device, Choice):
        return device
    arms = [_in_arms(arm, told) for arm in (device.then, device.otherwise)]
    outcome = told.get(device.guard.key)
    return choose(device.guard, *arms) if outcome is None else arms[0] if outcome else arms[1]


def _settled(inner: Interpreter, value: Value) -> Value:
    """What a call gives back, with the place of its receiver put for that of ``self``."""
    if isinstance(value, (Tensor, Opaque, DeviceName, Module)):
        device = placed(value.device, inner.places)
        return value if device == value.device else replace(value, device=device)
    if isinstance(value, Container):
        return value.with_each(lambda item: _settled(inner, item))
    if isinstance(value, Instance) and value.info is not None:
        return replace(value, details=tuple((name, _settled(inner, held)) for name, held in value.details))
    return value


def _as_self(receiver: Value, usual: Value) -> Value:
    """``self`` with the object's actual class; inside its methods a stored module is seen by its class facts."""
    if isinstance(receiver, (Self, Opaque, ClassValue)):
        return receiver
    if isinstance(receiver, Module) and receiver.info is not None and isinstance(usual, Self):
        return Self(receiver.info, usual.key)
    return usual


def _as_used(value: Value, usual: Value | None) -> Value:
    """An argument of unknown type has the type that the callee's parameter has."""
    if isinstance(value, Opaque) and isinstance(usual, Tensor):
        return as_tensor(value)
    return value


def _made_on_cpu(value: Value) -> Iterator[Step]:
    """The factory calls that put a value, or an item of it, on the CPU without naming a device."""
    if isinstance(value, Container):
        for item in value.values:
            yield from _made_on_cpu(item)
    elif isinstance(value, (Tensor, Opaque)) and may_be_cpu(value.device):
        made = _creation(value.provenance)
        if made is not None:
            yield made


def _built_for(interp: Interpreter, node: cst.Call, site: CallSite) -> Iterator[Step]:
    """The constructions of the Modules with state that are made here on the CPU, and that nothing but the call gets.

    One that a helper gives, ``net = load_net(path)``, counts where the call gets what was put on a device as well.
    """
    beside = any(is_put_on_a_device(one) for argument in site.arguments for one in innermost_of(argument.value))
    for argument in site.arguments:
        module = argument.value
        if not isinstance(module, Module) or argument.star:
            continue
        if built_here(interp, module, argument.node, node, by_helper=beside):
            assert module.provenance is not None
            yield module.provenance.step


def _creation(provenance: Provenance | None) -> Step | None:
    defaulted = False
    for step in provenance or ():
        defaulted = defaulted or step.defaulted
        if step.kind in (StepKind.MADE, StepKind.STORED):
            # What a helper makes where its parameter says, and a call says nothing, is made without a device as well.
            left_out = defaulted and isinstance(step.device, SameAs)
            return step if step.bare or left_out or step.kind is StepKind.STORED else None
        if step.kind is StepKind.MOVED:
            return None
    return None


def is_about(event: DeviceMismatch, handed: list[Step], places: Mapping[str, Device]) -> bool:
    """Whether an operand of the mismatch is, or was computed from, one of the passed tensors.

    Not where the other one is on the CPU: then what was passed is elsewhere in the arm that fails, and what stays
    behind is told of in the callee, or at the call of a module that was never moved.
    """
    sides = (event.offending.value, event.other.value)
    return any(
        step is given
        for value, other in (sides, sides[::-1])
        if isinstance(value, (Tensor, Opaque)) and may_be_cpu(value.device)
        if not isinstance(other, (Tensor, Opaque)) or placed(other.device, places) != CPU
        for step in value.provenance or ()
        for given in handed
    )
