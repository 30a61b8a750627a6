"""Context managers and process-wide settings that decide where things are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_state import Environment
from devlint.placement.domain.abstract_values import NOTHING, Constant, DeviceName, Host, Instance, Reference, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import Entered, Sink
from devlint.placement.domain.lattice import SOME_INDEX, UNKNOWN, Known
from devlint.placement.state.devices import resolve_device
from devlint.placement.syntax.nodes import dotted

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Walk

Leave = Callable[[Environment], None]

META_CONTEXTS = frozenset(
    {
        "accelerate.init_empty_weights", "transformers.modeling_utils.no_init_weights", "init_empty_weights",
        "torch.device", "accelerate.big_modeling.init_empty_weights", "init_on_device", "accelerate.init_on_device",
        "torch.nn.utils.skip_init", "deepspeed.zero.Init", "FakeTensorMode",
        "torch._subclasses.fake_tensor.FakeTensorMode", "torch._subclasses.FakeTensorMode",
    }
)  # fmt: skip
"""Contexts under which a bare factory does not allocate on the CPU."""


def _nothing(_: Environment) -> None:
    return None


def enter(walk: Walk, node: cst.BaseExpression, value: Value) -> Leave:
    """Applies what entering ``value`` does; the result undoes it."""
    walk.emit(Entered(node, walk.scope, value))
    state = walk.state
    if isinstance(value, DeviceName):
        return _context_device(state, value.device)
    if isinstance(value, Instance):
        if value.type_name == "torch.cuda.device":
            return _current_index(state, value)
        if value.type_name in ("torch.cuda.stream", "torch.cuda.StreamContext"):
            return _stream(state, value)
        if value.type_name in META_CONTEXTS or value.type_name.rsplit(".", 1)[-1] in META_CONTEXTS:
            return _context_device(state, UNKNOWN)
        return _nothing
    return _context_device(state, UNKNOWN) if _is_given_device(walk, node) else _nothing


def _is_given_device(walk: Walk, node: cst.BaseExpression) -> bool:
    """A context of the project's own that is handed a device: it may well make that the default."""
    if not isinstance(node, cst.Call) or walk.index.qualified(dotted(node.func)).startswith("torch."):
        return False
    values = [walk.evaluate_quietly(argument.value) for argument in node.args]
    return any(isinstance(value, DeviceName) and not value.is_type for value in values)


def _context_device(state: Environment, device: object) -> Leave:
    before = state.context_device
    state.context_device = device  # type: ignore[assignment]

    def leave(after: Environment) -> None:
        after.context_device = before

    return leave


def _current_index(state: Environment, value: Instance) -> Leave:
    before = state.current_index
    device = value.device
    state.current_index = device.index if isinstance(device, Known) else SOME_INDEX

    def leave(after: Environment) -> None:
        after.current_index = before

    return leave


def _stream(state: Environment, value: Instance) -> Leave:
    before = state.streams.current
    named = dict(value.details).get("stream")
    if isinstance(named, Reference):
        state.streams = state.streams.on(named.name)

    def leave(after: Environment) -> None:
        after.streams = after.streams.on(before)

    return leave


def target_value(value: Value) -> Value:
    """What ``with ... as name`` binds."""
    return value if isinstance(value, Instance) and value.type_name.endswith("tqdm") else NOTHING


# -- settings ----------------------------------------------------------------------------------------------------


def set_default_device(walk: Walk, call: CallSite) -> Value:
    argument = call.argument("device", 0)
    if argument is not None:
        walk.state.default_device = resolve_device(walk, argument.value, argument.node, Sink.CONTEXT, call)
        if walk.info is None:
            walk.program.note_default(walk.state.default_device)
    return NOTHING


def set_default_tensor_type(walk: Walk, call: CallSite) -> Value:
    argument = call.argument("t", 0)
    if argument is not None:
        name = ""
        if isinstance(argument.value, Constant):
            name = str(argument.value.value)
        elif isinstance(argument.value, Reference):
            name = argument.value.name
        if "cuda" in name:
            walk.state.default_device = Known("cuda")
        elif isinstance(argument.value, (Constant, Reference)):
            walk.state.default_device = Known("cpu")
        else:
            walk.state.default_device = UNKNOWN
        if walk.info is None:
            walk.program.note_default(walk.state.default_device)
    return NOTHING


def set_device(walk: Walk, call: CallSite) -> Value:
    argument = call.argument("device", 0)
    if argument is not None:
        device = resolve_device(walk, argument.value, argument.node, Sink.SET_DEVICE, call)
        walk.state.current_index = device.index if isinstance(device, Known) else SOME_INDEX
    return Host()
