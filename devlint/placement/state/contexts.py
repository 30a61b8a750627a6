"""Context managers and process-wide settings that determine where tensors are created."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_state import AbstractState
from devlint.placement.domain.abstract_values import NOTHING, Constant, DeviceName, Host, Instance, Reference, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import Entered, Sink
from devlint.placement.domain.lattice import SOME_INDEX, UNKNOWN, Known
from devlint.placement.state.devices import resolve_device
from devlint.placement.syntax.nodes import dotted, string_value
from devlint.semantics.library_models import is_unplaced_context, places_factories

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

Leave = Callable[[AbstractState], None]


def _nothing(_: AbstractState) -> None:
    return None


def enter(interp: Interpreter, node: cst.BaseExpression, value: Value) -> Leave:
    """Apply the effect of entering ``value``; the result undoes it."""
    interp.emit(Entered(node, interp.scope, value))
    state = interp.state
    if isinstance(value, DeviceName):
        return _context_device(state, value.device)
    if isinstance(value, Instance):
        if value.type_name == "torch.cuda.device":
            return _current_index(state, value)
        if value.type_name in ("torch.cuda.stream", "torch.cuda.StreamContext"):
            return _stream(state, value)
        if places_factories(value.type_name):
            return _context_device(state, value.device)
        if is_unplaced_context(value.type_name):
            return _context_device(state, UNKNOWN)
        return _nothing
    if _casts_on_the_cpu(interp, node):
        return _cpu_world(state)
    return _context_device(state, UNKNOWN) if _is_given_device(interp, node) else _nothing


def _casts_on_the_cpu(interp: Interpreter, node: cst.BaseExpression) -> bool:
    """``torch.autocast("cpu", dtype=torch.bfloat16)``: who names the CPU there works on it."""
    if not isinstance(node, cst.Call):
        return False
    name = interp.index.qualified(dotted(node.func))
    if name == "torch.cpu.amp.autocast":
        return True
    if name not in ("torch.autocast", "torch.amp.autocast"):
        return False
    named = (one.value for one in node.args if one.keyword is None or one.keyword.value == "device_type")
    told = next(named, None)
    return isinstance(told, cst.SimpleString) and string_value(told.value) == "cpu"


def _cpu_world(state: AbstractState) -> Leave:
    before = state.on_cpu
    state.on_cpu = True

    def leave(after: AbstractState) -> None:
        after.on_cpu = before

    return leave


def _is_given_device(interp: Interpreter, node: cst.BaseExpression) -> bool:
    """Whether a context of the project takes a device as argument: it may set the default device."""
    if not isinstance(node, cst.Call) or interp.index.qualified(dotted(node.func)).startswith("torch."):
        return False
    values = [interp.evaluate_quietly(argument.value) for argument in node.args]
    return any(isinstance(value, DeviceName) and not value.is_type for value in values)


def _context_device(state: AbstractState, device: object) -> Leave:
    before = state.context_device
    state.context_device = device  # type: ignore[assignment]

    def leave(after: AbstractState) -> None:
        after.context_device = before

    return leave


def _current_index(state: AbstractState, value: Instance) -> Leave:
    before = state.current_index
    device = value.device
    state.current_index = device.index if isinstance(device, Known) else SOME_INDEX

    def leave(after: AbstractState) -> None:
        after.current_index = before

    return leave


def _stream(state: AbstractState, value: Instance) -> Leave:
    before = state.streams.current
    named = dict(value.details).get("stream")
    if isinstance(named, Reference):
        state.streams = state.streams.on(named.name)

    def leave(after: AbstractState) -> None:
        after.streams = after.streams.on(before)

    return leave


def target_value(value: Value) -> Value:
    """The value that ``with ... as name`` binds."""
    return value if isinstance(value, Instance) and value.type_name.endswith("tqdm") else NOTHING


# -- settings ----------------------------------------------------------------------------------------------------


def set_default_device(interp: Interpreter, call: CallSite) -> Value:
    argument = call.argument("device", 0)
    if argument is not None:
        interp.state.default_device = resolve_device(interp, argument.value, argument.node, Sink.CONTEXT, call)
        if interp.info is None:
            interp.program.note_default(interp.state.default_device)
    return NOTHING


def set_default_tensor_type(interp: Interpreter, call: CallSite) -> Value:
    argument = call.argument("t", 0)
    if argument is not None:
        name = ""
        if isinstance(argument.value, Constant):
            name = str(argument.value.value)
        elif isinstance(argument.value, Reference):
            name = argument.value.name
        if "cuda" in name:
            interp.state.default_device = Known("cuda")
        elif isinstance(argument.value, (Constant, Reference)):
            interp.state.default_device = Known("cpu")
        else:
            interp.state.default_device = UNKNOWN
        if interp.info is None:
            interp.program.note_default(interp.state.default_device)
    return NOTHING


def set_device(interp: Interpreter, call: CallSite) -> Value:
    argument = call.argument("device", 0)
    if argument is not None:
        device = resolve_device(interp, argument.value, argument.node, Sink.SET_DEVICE, call)
        interp.state.current_index = device.index if isinstance(device, Known) else SOME_INDEX
    return Host()
