"""Summaries: the result of a definition in terms of its parameters, and its substitution at a call site."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.evidence_names import names_a_module
from devlint.placement.declarations.symbol_keys import symbol_key
from devlint.placement.domain.abstract_values import (
    NONE,
    NOTHING,
    Constant,
    Container,
    DeviceName,
    Evidence,
    Function,
    Host,
    Instance,
    Module,
    OneOf,
    Opaque,
    Self,
    Tensor,
    UnknownValue,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.device_names import name_of_constant
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Anchor,
    Choice,
    Device,
    Guard,
    GuardKind,
    Known,
    SameAs,
    Symbol,
    choose,
    is_of_parameter,
    is_set_as_device,
)
from devlint.placement.domain.provenance import Provenance, Step, StepKind, extend, was_moved
from devlint.placement.domain.symbols import HANDED_ON, module_symbol
from devlint.placement.state.decided_arms import as_decided
from devlint.placement.state.devices import device_called
from devlint.placement.syntax.nodes import code_of, dotted, literal, parameters_of
from devlint.records import replace

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter
    from devlint.placement.interpreter.program import Program


Substitution = dict[str, Value]
"""The value for each symbol key at one call."""


def bind_arguments(interp: Interpreter, info: FunctionInfo, site: CallSite, receiver: Value | None) -> Substitution:
    """The arguments of a call by the symbol keys of their parameters; default values where none is given."""
    substitution: Substitution = {}
    counts = not interp.muted and interp.depth == 0
    if info.owner is not None and receiver is not None and not info.is_static and not info.is_classmethod:
        substitution[module_symbol(info.owner).key] = receiver
        substitution.update(receiver.given if isinstance(receiver, Instance) else ())
        substitution.update(_built_with(receiver))
        substitution.update(_handed_up(interp, info, receiver))
        note_receiver(interp, receiver)
    for name, value in arguments_of(info, site, receiver, interp.program):
        substitution[symbol_key(info, name)] = value
        if counts:
            interp.program.note_argument(symbol_key(info, name), as_decided(interp, value))
    if counts:
        for given in site.arguments:
            _note_handed_on(interp, given.node, given.value)
    return substitution


def _note_handed_on(interp: Interpreter, node: cst.BaseExpression, value: Value) -> None:
    """Note what is an argument of the caller's own, as it came in: it may be None for all that the call shows."""
    if not isinstance(node, cst.Name) or interp.state.versions.get(node.value, 0) or interp.info is None:
        return
    if any(parameter.name.value == node.value for parameter in parameters_of(interp.info.header)):
        interp.program.note_argument(HANDED_ON, value)


def _built_with(receiver: Value) -> Substitution:
    """What an object was built with, all of whose tensors are in one place."""
    if not isinstance(receiver, Opaque) or receiver.info is None:
        return {}
    built = Opaque(receiver.device, receiver.provenance)
    return {
        symbol_key(init, parameter.name.value): built
        for init in receiver.info.constructors
        for parameter in parameters_of(init.header)[1:]
    }


def _handed_up(interp: Interpreter, info: FunctionInfo, receiver: Value) -> Substitution:
    """What the constructor of the receiver's class says to that of the base whose method is called."""
    derived = receiver.info if isinstance(receiver, Self) else info.owner
    if derived is None or derived is info.owner or interp.program.in_progress(derived):
        return {}
    return interp.program.facts(derived).handed_up


def note_arguments(interp: Interpreter, chosen: OneOf, site: CallSite) -> None:
    """The arguments of a call whose function is chosen elsewhere, for each of those that it may be."""
    if interp.muted or interp.depth > 0:
        return
    for one in chosen.callees:
        if isinstance(one, Function):
            for name, value in arguments_of(one.info, site, one.receiver, interp.program):
                interp.program.note_argument(symbol_key(one.info, name), value)


def note_receiver(interp: Interpreter, receiver: Value) -> None:
    """A call of a method, or of the object itself, for what its class's methods are walked as."""
    if isinstance(receiver, Module) and receiver.info is not None and not interp.muted and interp.depth == 0:
        for one in receiver.info.order:
            interp.program.note_argument(module_symbol(one).key, receiver)


def arguments_of(
    info: FunctionInfo, site: CallSite, receiver: Value | None, program: Program
) -> Iterator[tuple[str, Value]]:
    """Each parameter with its argument, without ``self`` if there is a receiver; default values where none is given.

    A parameter that unpacked arguments may supply is unknown. ``program`` is the module of the call.
    """
    bound = info.has_receiver and receiver is not None
    parameters = parameters_of(info.header)
    for position, parameter in enumerate(parameters[1:] if bound else parameters):
        given = site.argument(parameter.name.value, position)
        if given is not None:
            yield parameter.name.value, given.value
        else:
            yield parameter.name.value, NOTHING if site.unpacks else _default_of(parameter, info, program)


def gathered_of(info: FunctionInfo, site: CallSite, receiver: Value | None) -> Iterator[tuple[str, Container]]:
    """What ``*args`` and ``**kwargs`` of a definition gather at a call: the arguments that no parameter takes."""
    declared = info.header.params
    bound = info.has_receiver and receiver is not None
    first = len(declared.posonly_params) + len(declared.params) - bound
    if isinstance(declared.star_arg, cst.Param):
        more = _unpacked(site, "*")
        items = tuple(argument.value for argument in site.positional[first:])
        yield declared.star_arg.name.value, Container(items, None, more, "tuple")
    if declared.star_kwarg is not None:
        more = _unpacked(site, "**")
        named = {parameter.name.value for parameter in (*declared.params, *declared.kwonly_params)}
        left = [(one.keyword, one.value) for one in site.arguments if one.keyword is not None]
        left = [(keyword, value) for keyword, value in left if keyword not in named]
        keys, values = tuple(keyword for keyword, _ in left), tuple(value for _, value in left)
        yield declared.star_kwarg.name.value, Container(values, keys, more, "dict")


def _unpacked(site: CallSite, star: str) -> Value | None:
    """What a call may unpack besides the arguments that are known: None where it unpacks nothing more.

    The known items of ``*pair`` and ``**options`` are arguments of the call already.
    """
    more: Value | None = None
    for argument in site.arguments:
        if argument.star != star:
            continue
        held = argument.value
        known = isinstance(held, Container) and (held.keys is None) is (star == "*")
        rest = held.rest if isinstance(held, Container) and known else NOTHING
        more = NOTHING if more is not None and rest is not None else rest or more
    return more


def _default_of(parameter: cst.Param, info: FunctionInfo, program: Program) -> Value:
    """The default value of a parameter, if it is a literal or the device that one names; otherwise unknown.

    ``device=DEVICE`` is what the module of the function binds to the name.
    """
    match parameter.default:
        case None:
            return NOTHING
        case cst.Call(func=function, args=[cst.Arg(value=spelled, keyword=None)]):
            # `torch.device("cpu")`, under whatever name torch is imported.
            if (dotted(function) or "").rpartition(".")[2] != "device":
                return NOTHING
        case cst.Name(value=name) if parameter.name.value.endswith("device") and name not in ("None", "True", "False"):
            holder = program.holder(info)
            value = holder.global_value(name) if holder is not None else NOTHING
            return value if isinstance(value, (Constant, DeviceName)) else NOTHING
        case spelled:
            pass
    try:
        return Constant(literal(spelled), parameter.default)
    except ValueError:
        return NOTHING


def result_of_call(interp: Interpreter, node: cst.Call, summary: Value, substitution: Substitution) -> Value:
    """The result of a call by the summary of its callee, as the callee gives it."""
    value = _made_here(interp, substitute(summary, substitution, interp, node))
    if isinstance(value, (Tensor, Opaque)) and value.device == CPU and was_moved(value.provenance):
        assert value.provenance is not None
        # Brought to the CPU by the callee: the caller has to see that it came from an argument of its own.
        value = replace(value, provenance=_renamed(value.provenance, substitution, interp, node))
    return value


def _made_here(interp: Interpreter, value: Value) -> Value:
    """What a function makes without a device is where a context around its call says: ``with torch.device(d)``."""
    if interp.state.factory_device == CPU:
        return value
    if isinstance(value, Container):
        return value.with_each(lambda item: _made_here(interp, item))
    if isinstance(value, (Tensor, Opaque, Module)) and value.device == CPU and not was_moved(value.provenance):
        return replace(value, device=UNKNOWN)
    return value


def _renamed(provenance: Provenance, substitution: Substitution, interp: Interpreter, call: cst.Call) -> Provenance:
    """The provenance with the caller's devices in the place of those of the callee's arguments."""
    renamed: Provenance | None = None
    for step in reversed(tuple(provenance)):
        device = _device(step.device, substitution, interp, call) if isinstance(step.device, SameAs) else step.device
        renamed = extend(renamed, step if device == step.device else replace(step, device=device))
    assert renamed is not None
    return replace(renamed, others=provenance.others)


def handed_back(interp: Interpreter, node: cst.Call, value: Value, defaulted: bool = False) -> Value:
    """The result of a call as the caller sees it: its provenance gets the step of the call, as do those of a tuple.

    ``defaulted``: the call leaves out where the result is to be.
    """
    if isinstance(value, Container) and value.type == "tuple":
        return value.with_each(lambda item: handed_back(interp, node, item, defaulted))
    if isinstance(value, (Tensor, Opaque, Module)) and value.provenance is not None:
        step = Step(StepKind.RETURNED, node, interp.scope, value.device, f"{code_of(node.func)}()", defaulted=defaulted)
        return replace(value, provenance=extend(value.provenance, step))
    return value


def of_untold_object(value: Value, owner: Value | None) -> Value:
    """What an object gives that was built without its device: the provenance gets the step of that construction.

    Of what it makes where the device says, which is the CPU by default.
    """
    if not isinstance(owner, Instance) or owner.untold is None or owner.node is None:
        return value
    if isinstance(value, Container) and value.type == "tuple":
        return value.with_each(lambda item: of_untold_object(item, owner))
    if not isinstance(value, (Tensor, Opaque)) or value.provenance is None or value.device != CPU:
        return value
    made = value.provenance.find(StepKind.MADE, StepKind.MOVED)
    if made is None or made.kind is StepKind.MOVED or not isinstance(made.device, SameAs):
        return value  # nothing that is told to the object decides where it is
    step = Step(StepKind.RETURNED, owner.node, owner.untold, CPU, f"{owner.type_name}()", defaulted=True)
    return replace(value, provenance=extend(value.provenance, step))


def substitute(value: Value, substitution: Substitution, interp: Interpreter, call: cst.Call | None) -> Value:
    """``value`` with the caller's values substituted for the symbols of the definition."""
    if isinstance(value, Tensor) and _is_argument(value):
        came_in = value.provenance is not None and value.provenance.first.kind is StepKind.GIVEN
        if came_in and isinstance(_given_for(value.device, substitution), Constant):
            # Computed from an argument that is not a tensor in this call.
            return NOTHING
    if isinstance(value, (Tensor, Opaque, DeviceName, Module)):
        device = _device(value.device, substitution, interp, call)
        if device == value.device:
            return value
        if isinstance(value, Opaque) and _is_argument(value):
            given = _given_for(value.device, substitution)
            if value.provenance is not None and value.provenance.step.kind is StepKind.COMPUTED:
                # Of what is no tensor in this call, something unknown was made.
                return NOTHING if isinstance(given, (Host, Constant)) else replace(value, device=device)
            if isinstance(given, (Host, Constant, Container, Instance, Module)):
                # The argument itself is returned: the caller's value; of several values, one or all of them.
                if not isinstance(given, Container):
                    return given
                return NOTHING if device == UNKNOWN else replace(value, device=device)
        if isinstance(value, Module) and (layer := _layer_given(value, substitution)) is not None:
            return replace(
                layer, device=device, provenance=layer.provenance if layer.device == device else value.provenance
            )
        given = _moved_argument(value, substitution)
        if given is not None:
            return Tensor(device, given.dim, given.elements, evidence=given.evidence, provenance=value.provenance)
        return replace(value, device=device)
    if isinstance(value, Container):
        return value.with_each(lambda item: substitute(item, substitution, interp, call))
    if isinstance(value, Instance) and (value.details or value.given):
        details = ((name, substitute(held, substitution, interp, call)) for name, held in value.details)
        built_with = ((key, substitute(held, substitution, interp, call)) for key, held in value.given)
        return replace(value, details=tuple(details), given=tuple(built_with))
    return value


def _is_argument(value: Tensor | Opaque) -> bool:
    """Whether it is, or comes out of, the argument that says where it is; another one may have been moved there."""
    if not isinstance(value.device, SameAs) or value.device.symbol.anchor is Anchor.MODULE:
        return False
    moved = value.provenance.find(StepKind.MOVED) if value.provenance is not None else None
    return moved is None or moved.device != value.device


def _given_for(device: Device, substitution: Substitution) -> Value | None:
    """The argument whose place ``device`` is."""
    return substitution.get(device.symbol.key) if isinstance(device, SameAs) else None


def _layer_given(value: Module, substitution: Substitution) -> Module | None:
    """The argument that a function gives back, where it is a layer of torch: ``initialised(nn.Linear(3, 3))``.

    A layer has no parts that could be given back in its place.
    """
    if value.info is not None or value.type_name or value.provenance is None:
        return None
    first = value.provenance.first
    given = _given_for(first.device, substitution) if first.kind is StepKind.GIVEN else None
    if not isinstance(given, Module) or given.info is not None:
        return None
    known = semantics.module(given.type_name)
    return given if known is not None and not known.container else None


def _moved_argument(value: Value, substitution: Substitution) -> Tensor | None:
    """The argument that the callee moved, where it alone was of unknown type there: moved, a tensor is one."""
    if not isinstance(value, Opaque) or value.provenance is None or value.provenance.find(StepKind.MOVED) is None:
        return None
    first = value.provenance.first
    given = _given_for(first.device, substitution) if first.kind is StepKind.GIVEN else None
    return given if isinstance(given, Tensor) else None


def _device(device: Device, substitution: Substitution, interp: Interpreter, call: cst.Call | None) -> Device:
    match device:
        case SameAs(symbol):
            if symbol.key not in substitution:
                drawn = _drawn_from(symbol, substitution)
                if drawn is not None:
                    return drawn
                kept = _kept_by_the_object(symbol, interp, call)
                if kept is not None:
                    return kept
                # A device that only the callee can name: unknown to the caller.
                return device if symbol.anchor is Anchor.MODULE and call is None else _foreign(device)
            given = substitution[symbol.key]
            if given == NONE and symbol.anchor is Anchor.PARAMETER and names_a_module(symbol.name):
                # `base_of(self.model)`, of a model that is handed over later: what is None is nowhere.
                return UNKNOWN
            return place_of(given, interp)
        case Choice(guard, then, otherwise):
            return _choice(guard, then, otherwise, substitution, interp, call)
        case _:
            return device


def _kept_by_the_object(symbol: Symbol, interp: Interpreter, call: cst.Call | None) -> Device | None:
    """``self.device`` of a method that is called on ``self``: the caller means the same by it."""
    if symbol.anchor is not Anchor.EXPRESSION or not symbol.name.startswith("self."):
        return None
    match call:
        case cst.Call(func=cst.Attribute(value=cst.Name(value="self"))):
            return device_called(interp, symbol.name) if _is_path(symbol.name) else None
    return None


def _is_path(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _drawn_from(symbol: Symbol, substitution: Substitution) -> Device | None:
    """Where an item of an argument is that is a tensor, or several, in this call; None for any other symbol.

    For the function alone it may be a loader: ``for row in rows``.
    """
    if symbol.anchor is not Anchor.BATCH or not symbol.source.isidentifier():
        return None
    given = next((value for key, value in substitution.items() if key.endswith(f":{symbol.source}")), None)
    if isinstance(given, Tensor):
        return given.device
    return _place_of_several(given) if isinstance(given, Container) else None


def _foreign(device: SameAs) -> Device:
    return UNKNOWN if device.symbol.anchor in (Anchor.EXPRESSION, Anchor.BATCH) else device


def place_of(value: Value, interp: Interpreter) -> Device:
    """The device of an argument, or the device that it names."""

    match value:
        case Tensor() | Opaque() | Module() | DeviceName():
            return value.device
        case Container():
            return _place_of_several(value)
        case Self():
            return SameAs(module_symbol(value.info))
        case Constant(value=None):
            return interp.state.factory_device
        case Constant():
            named = name_of_constant(value)
            return named.device if named is not None else UNKNOWN
        case _:
            return UNKNOWN


def _place_of_several(container: Container) -> Device:
    """Where the tensors of a list, a tuple or a dict are, if they are in one place.

    What the caller was given in several arguments is in one place by the caller's choice: the first stands for all.
    """
    placed = [value for value in container.innermost if not isinstance(value, (Host, Constant))]
    devices = list(dict.fromkeys(value.device for value in placed if isinstance(value, (Tensor, Opaque))))
    if not devices or not all(isinstance(value, (Tensor, Opaque)) for value in placed):
        return UNKNOWN
    given = all(is_of_parameter(device) for device in devices)
    return devices[0] if len(devices) == 1 or given else UNKNOWN


def _choice(
    guard: Guard,
    then: Device,
    otherwise: Device,
    substitution: Substitution,
    interp: Interpreter,
    call: cst.Call | None,
) -> Device:
    first = _device(then, substitution, interp, call)
    second = _device(otherwise, substitution, interp, call)
    if guard.kind is GuardKind.IS_NONE and guard.subject is not None and guard.subject.key in substitution:
        given = substitution[guard.subject.key]
        if isinstance(given, Constant):
            return first if given.value is None else second
        if isinstance(given, UnknownValue) or not _may_be_none(given, interp):
            # Of what is handed over nothing has to be known to be something: other calls leave it out.
            return second
        # `def alias(x, out=None): return function(x, out)`: the calls of the alias decide.
        place = place_of(given, interp)
        guard = replace(guard, subject=place.symbol if isinstance(place, SameAs) else None)
    if guard.subject is not None and guard.text == guard.subject.name:
        # The truth of the argument itself.
        told = substitution.get(guard.subject.key)
        if isinstance(told, Constant):
            return first if told.value else second
    if guard.kind is GuardKind.ON_ACCELERATOR and guard.subject is not None and guard.subject.key in substitution:
        # ``if device.type == "cuda" and device.index is None``, and the caller names the CPU, or its own argument's.
        place = place_of(substitution[guard.subject.key], interp)
        if place == CPU:
            return second
        guard = replace(guard, subject=place.symbol if isinstance(place, SameAs) else None)
    if guard.kind is GuardKind.IS_ARRAY and guard.subject is not None:
        is_array = _is_array(substitution.get(guard.subject.key, NOTHING))
        if is_array is not None:
            return first if is_array else second
    if guard.kind in (GuardKind.IS_TENSOR, GuardKind.IS_NO_TENSOR) and guard.subject is not None:
        is_tensor = _is_tensor(substitution.get(guard.subject.key, NOTHING))
        if is_tensor is not None:
            return first if is_tensor is (guard.kind is GuardKind.IS_TENSOR) else second
        converted, kept = (second, first) if guard.kind is GuardKind.IS_TENSOR else (first, second)
        if kept == UNKNOWN and is_set_as_device(converted):
            # `to_tensor(state, device)`: what brings anything there is handed what is not there, or is.
            return converted
    renamed = guard if guard.lasting else replace(guard, key=f"{guard.key}#{id(call)}")
    return choose(renamed, first, second)


def _is_tensor(value: Value) -> bool | None:
    """Whether an argument is a tensor; None if the call does not show it."""
    if isinstance(value, Tensor):
        return None if value.evidence is Evidence.LIKELY and value.device == UNKNOWN else True
    return False if isinstance(value, (Host, Constant, Container)) else None


def _is_array(value: Value) -> bool | None:
    """Whether an argument is an array; what is placed with a module, as the inputs of its ``forward`` are, is none."""
    if isinstance(value, Opaque) and isinstance(value.device, SameAs) and value.device.symbol.anchor is Anchor.MODULE:
        return False
    if isinstance(value, Host):
        return True if value.numpy else None
    return False if isinstance(value, (Tensor, Constant, Container)) else None


def _may_be_none(value: Value, caller: Interpreter) -> bool:
    """Whether the argument is itself a parameter of the caller, which may be None."""
    if isinstance(value, DeviceName):
        return value.node is None and not value.of_tensor and not isinstance(value.device, Known)
    if isinstance(value, Tensor):
        return _is_optional(value, caller)
    # What was made here, or is a part of a module, is there.
    return isinstance(value, Opaque) and (value.provenance is None or value.provenance.first.kind is StepKind.GIVEN)


def _is_optional(value: Tensor, caller: Interpreter) -> bool:
    """Whether a tensor is a parameter as the caller got it, which is None where a call leaves it out."""
    came = value.provenance
    if caller.info is None or came is None or came.previous is not None or came.others:
        return False
    named = (one for one in parameters_of(caller.info.header) if one.name.value == came.step.name)
    absent = any(isinstance(one.default, cst.Name) and one.default.value == "None" for one in named)
    return absent and came.step.kind is StepKind.GIVEN
