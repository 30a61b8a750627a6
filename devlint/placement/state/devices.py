"""Devices as values: named by strings, indexes and ``torch.device``, read from tensors, passed by callers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.domain.abstract_values import (
    Constant,
    DeviceName,
    Host,
    Module,
    Opaque,
    ProjectModule,
    Reference,
    Tensor,
    UnknownValue,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.device_names import NO_DEVICE, name_of_constant
from devlint.placement.domain.events import DeviceNamed, IndexAsDevice, RequestDropped, Sink
from devlint.placement.domain.lattice import (
    UNKNOWN,
    Anchor,
    Choice,
    Device,
    GuardKind,
    Known,
    SameAs,
    Symbol,
    Unknown,
    choose,
)
from devlint.placement.state.ranks import note_index
from devlint.placement.syntax.nodes import code_of, literal

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

ACCELERATOR_METHODS = frozenset({"cuda", "xpu", "npu", "mps", "hpu", "ipu"})
"""Methods of Tensor and Module that are named after the target device."""


def resolve_device(
    interp: Interpreter, value: Value, node: cst.BaseExpression, sink: str | None = None, call: CallSite | None = None
) -> Device:
    """The device of an argument where torch takes a device; emits an event for each literal that names one."""
    if isinstance(value, DeviceName):
        if sink is not None:
            _name_literal(interp, value, sink, call)
        if value.is_index and sink in _REFUSE_MINUS_ONE:
            left = any(decided.guard.kind is GuardKind.ON_ACCELERATOR for decided in interp.state.left)
            interp.emit(IndexAsDevice(node, interp.scope, value, left or interp.under_device_guard))
        if value.is_type and interp.state.current_index is not None:
            # The type alone means the current device, which something chose here.
            return UNKNOWN
        return named_at_least(interp, value, value.device, node)
    if isinstance(value, Constant):
        return _device_of_literal(interp, value, node, sink, call)
    if isinstance(value, (Tensor, Opaque)):
        # ``t.to(other)``; an argument of unknown type that is used as a device is a device the caller decides.
        return value.device
    if isinstance(value, (Module, Reference)):
        return UNKNOWN
    if isinstance(value, Host) and value.rank is not None and sink is not None:
        note_index(interp, value, node, sink)
    return expression_device(interp, node)


_REFUSE_MINUS_ONE = frozenset({Sink.DEVICE, Sink.ARGUMENT, Sink.TRANSFER})
"""Where -1 raises: "Device index must not be negative". ``torch.cuda.device(-1)`` is no device, and does nothing."""


def named_at_least(interp: Interpreter, value: DeviceName, device: Device, node: cst.BaseExpression) -> Device:
    """The device of an expression; where it is not known which, the one that an attribute of ``self`` names, or a name.

    ``x.device`` of a tensor that nothing is known of may be the CPU's.
    """
    if isinstance(device, Unknown):
        named = _is_of_self(node) or (isinstance(node, cst.Name) and value.node is None and not value.of_tensor)
        return expression_device(interp, node) if named else device
    if isinstance(device, Choice):
        arms = (named_at_least(interp, value, arm, node) for arm in (device.then, device.otherwise))
        return choose(device.guard, *arms)
    return device


def _is_of_self(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == "self"


def expression_device(interp: Interpreter, node: cst.BaseExpression) -> Device:
    """The device of an expression that is not evaluated further: equal expressions have equal devices."""
    text = code_of(node)
    if len(text) > 100 or (isinstance(node, cst.Call) and not _gives_the_device(interp, node)):
        return UNKNOWN
    return device_called(interp, text)


def _gives_the_device(interp: Interpreter, call: cst.Call) -> bool:
    """Whether it is called after the device that all is put on: ``get_device()``, ``self.get_device()``.

    What it is told may decide which: ``get_device(x)``. What torch gives by default is where bare factories work.
    """
    owner, _, name = code_of(call.func).rpartition(".")
    if call.args or "device" not in name.lower() or _ELSEWHERE.search(name.lower()):
        return False
    if owner in ("", "self"):
        return True
    value = interp.evaluate_quietly(call.func.value) if isinstance(call.func, cst.Attribute) else None
    return isinstance(value, (ProjectModule, Reference)) and not owner.startswith("torch")


_ELSEWHERE = re.compile(r"cpu|host|offload|default|intermediate|devices|count|index|name")
"""Parts of the names of functions that give the CPU, or no device."""


def device_called(interp: Interpreter, text: str) -> Device:
    """The device of what is written so at the current point."""
    root = text.split(".", 1)[0].split("[", 1)[0]
    version = interp.state.versions.get(root, 0)
    return SameAs(Symbol(Anchor.EXPRESSION, text, f"{interp.scope.qualname}:{text}@{version}"))


def _device_of_literal(
    interp: Interpreter, value: Constant, node: cst.BaseExpression, sink: str | None, call: CallSite | None
) -> Device:
    if isinstance(value.value, bool) or value.value is None:
        return interp.state.factory_device if value.value is None else UNKNOWN
    if isinstance(value.value, int):
        _emit(interp, value.node or node, str(value.value), sink, None, call)
        return Known("cuda", value.value)
    if isinstance(value.value, str):
        named = name_of_constant(value)
        _emit(interp, value.node or node, value.value, sink, named, call)
        return named.device if named is not None else UNKNOWN
    return UNKNOWN


def name_default(interp: Interpreter, value: Value, node: cst.BaseExpression) -> None:
    """Emit an event for a string that names a device and is the default value of a field."""
    if isinstance(value, Constant) and isinstance(value.value, str):
        resolve_device(interp, value, node, Sink.DEFAULT)


def _name_literal(interp: Interpreter, value: DeviceName, sink: str, call: CallSite | None) -> None:
    """Emit an event at the literal once its value reaches torch, also through a variable."""
    if value.node is None or not value.text:
        return
    if value.text != NO_DEVICE and not isinstance(value.node, (cst.SimpleString, cst.Integer)):
        return
    asked = any(value.text in decided.guard.text for decided in (*interp.arms, *interp.state.left))
    if asked and not isinstance(semantics.parse_device(value.text), semantics.NamedDevice):
        return  # `if device == "gpu": device = "cuda"`: the word is put right where it is asked for
    if isinstance(value.device, SameAs):
        # The value is an argument; the literal is its default value.
        sink = Sink.DEFAULT
    _emit(interp, value.node, value.text, sink, value, call, value.chosen_by_probe)


def _emit(
    interp: Interpreter,
    node: cst.CSTNode,
    text: str,
    sink: str | None,
    name: DeviceName | None,
    call: CallSite | None,
    guarded: bool = False,
) -> None:
    if sink is not None:
        interp.emit(
            DeviceNamed(node, interp.scope, text, sink, name, call, guarded or interp.under_device_guard, interp.arms)
        )


def resolve_current(interp: Interpreter, device: Device) -> Device:
    """The current device for ``cuda`` without an index, if the index is set at this point."""
    if isinstance(device, Known) and device.type == "cuda" and device.index is None:
        return Known("cuda", interp.state.current_index)
    return device


def is_dtype(value: Value, node: cst.BaseExpression) -> bool:
    """Whether an argument of ``.to`` is a dtype rather than a device."""
    if isinstance(value, Reference):
        return value.name.startswith("torch.")
    if isinstance(value, Host) and value.is_dtype:
        return True
    if isinstance(value, Constant) and isinstance(value.value, str):
        # Arrays of other libraries take such names, torch refuses them: a device is never meant.
        return semantics.dtype_class(f"torch.{value.value}") is not None
    owner, _, last = code_of(node).rpartition(".")
    if owner and semantics.dtype_class(f"torch.{last}") is not None:
        # ``import package.torch as torch``: other libraries have types of these names, and no devices.
        return True
    return isinstance(value, (UnknownValue, Opaque, Host)) and "type" in last.lower()


def note_dropped_request(interp: Interpreter, node: cst.IfExp) -> None:
    """Emit an event where ``if`` takes the whole of ``device or "cuda"``, since ``or`` binds tighter.

    Parentheses would say that this is meant. A bare tree has none: there the rule looks again.
    """
    body = node.body
    if not isinstance(body, cst.BooleanOperation) or not isinstance(body.operator, cst.Or):
        return
    if _spells_device(body.right) and _spells_device(node.orelse):
        interp.emit(RequestDropped(node, interp.scope, body.left))


def _spells_device(node: cst.BaseExpression) -> bool:
    """Whether it is a literal that names a device, or ``torch.device`` of one."""
    if isinstance(node, cst.Call) and code_of(node.func) in ("torch.device", "device") and len(node.args) == 1:
        node = node.args[0].value
    return isinstance(node, cst.SimpleString) and name_of_constant(Constant(literal(node))) is not None
