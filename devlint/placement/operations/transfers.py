"""Transfers: ``.to``, ``.cuda``, ``.cpu``, ``.type_as``, ``.pin_memory`` on tensors, modules and unknown values.

On a tensor a transfer returns a new tensor and leaves the receiver; on a Module it moves the module in place and
returns it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.evidence_names import names_a_module
from devlint.placement.domain.abstract_values import (
    NOTHING,
    UNSET,
    Argument,
    Constant,
    Container,
    DeviceName,
    Host,
    Instance,
    Kind,
    Module,
    Opaque,
    Reference,
    Self,
    Tensor,
    UnknownValue,
    Value,
    as_tensor,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import Fate, Moved, Sink
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Device,
    Known,
    is_accelerator,
    may_be_cpu,
    relate,
)
from devlint.placement.domain.provenance import Provenance, StepKind
from devlint.placement.operations import moved_for_one_use, siblings
from devlint.placement.operations.encoded import is_encoded
from devlint.placement.state.call_sites import BROUGHT, MOVED
from devlint.placement.state.devices import ACCELERATOR_METHODS, is_dtype, resolve_current, resolve_device
from devlint.placement.state.field_types import ITEMS
from devlint.placement.state.held_modules import is_called_by_methods
from devlint.placement.syntax.nodes import code_of, path_of
from devlint.records import dataclass, replace
from devlint.semantics import Dim, DType, Relation

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

METHODS = frozenset({"to", "cpu", "type_as", "pin_memory", "type", "to_empty"}) | ACCELERATOR_METHODS


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a transfer. ``moves`` is False for a dtype alone, None if the arguments do not show it."""

    device: Device
    moves: bool | None
    named: Argument | None = None


def transfer(
    interp: Interpreter, node: cst.Call, receiver: Value, receiver_node: cst.BaseExpression, method: str, call: CallSite
) -> Value:
    """The result of a transfer call, and its effect on the receiver."""
    target = _target(interp, method, receiver, call)
    fate = interp.take_fate(node)
    if target.moves and not interp.muted and interp.depth == 0:
        interp.program.note_argument(MOVED, receiver)
        if target.device != CPU:
            interp.program.note_argument(BROUGHT, receiver)
    result = _moved(interp, node, receiver, receiver_node, method, call, target)
    interp.emit(
        Moved(
            node, interp.scope, method, receiver, receiver_node, result, target.device, call,
            target.moves is not False, target.named, fate, code_of(receiver_node),
            interp.arms, interp.under_device_guard, siblings.is_field(interp, receiver, receiver_node),
        )
    )  # fmt: skip
    _note(interp, node, receiver, receiver_node, target, fate, method)
    return result


def bring_self(
    interp: Interpreter, node: cst.Call, receiver: Self, receiver_node: cst.BaseExpression, method: str, call: CallSite
) -> Value:
    """``self.cpu()`` in a method of a Module: what follows finds it on the host. Other moves change nothing."""
    if _target(interp, method, receiver, call).device != CPU:
        return receiver
    brought = Module(CPU, info=receiver.info, provenance=interp.step(StepKind.MOVED, node, CPU, f".{method}()"))
    _store_back(interp, receiver_node, brought)
    return brought


def _target(interp: Interpreter, method: str, receiver: Value, call: CallSite) -> Target:
    if method == "cpu":
        return Target(CPU, True)
    if method == "pin_memory":
        return Target(CPU, True)
    if method in ACCELERATOR_METHODS:
        argument = call.argument("device", 0)
        if argument is None or (isinstance(argument.value, Constant) and argument.value.value is None):
            return Target(resolve_current(interp, Known(method)), not call.unpacks or None)
        if isinstance(argument.value, Constant) and isinstance(argument.value.value, bool):
            return Target(resolve_current(interp, Known(method)), True)
        device = resolve_device(interp, argument.value, argument.node, Sink.TRANSFER, call)
        return Target(device, True, argument)
    if method == "type_as":
        argument = call.argument("other", 0)
        return Target(getattr(argument.value, "device", UNKNOWN) if argument else UNKNOWN, True, argument)
    if method == "type":
        return _target_of_type(interp, receiver, call)
    return _target_of_to(interp, receiver, call)


def _own(receiver: Value) -> Device:
    device = getattr(receiver, "device", UNKNOWN)
    return device if not isinstance(receiver, Instance) else UNKNOWN


def _target_of_type(interp: Interpreter, receiver: Value, call: CallSite) -> Target:
    """``x.type(...)`` takes a dtype, the name of a type of tensors, or such a type: the last two have a device."""
    argument = call.argument("dtype", 0)
    if argument is None:
        return Target(_own(receiver), False)
    if isinstance(argument.value, DeviceName):
        there = resolve_device(interp, argument.value, argument.node, Sink.TRANSFER, call)
        # It goes to the current device of that type: which one that is may have been said on purpose.
        left_open = resolve_current(interp, Known("cuda")) == Known("cuda")
        return Target(there, True, argument if left_open else None)
    if isinstance(argument.value, (Constant, Reference)):
        spelled = argument.value.name if isinstance(argument.value, Reference) else str(argument.value.value)
        device = _device_of_type(spelled)
        # A type of the receiver's kind of device leaves its index (torch/csrc/autograd/generated: `THPVariable_type`).
        both = device is not None and is_accelerator(device) and is_accelerator(_own(receiver))
        stays = device is None or device == CPU == _own(receiver) or both
        return Target(_own(receiver), False) if stays or device is None else Target(device, True)
    if _may_be_a_type(argument):
        return Target(UNKNOWN, None, argument)
    if is_dtype(argument.value, argument.node):
        return Target(_own(receiver), False)
    return Target(UNKNOWN, None, argument)


def _may_be_a_type(argument: Argument) -> bool:
    """An argument of the function, whatever its name: callers hand in ``y.type()`` as well as ``y.dtype``."""
    value = argument.value
    untold = isinstance(value, UnknownValue) or (isinstance(value, Host) and not value.is_dtype)
    return untold and isinstance(argument.node, cst.Name)


def _device_of_type(name: str) -> Device | None:
    """Where the tensors of a type are: ``torch.FloatTensor`` on the CPU; None for a dtype, ``torch.float``."""
    parts = name.split(".")
    if "cuda" in parts:
        return Known("cuda")
    return CPU if parts[0] == "torch" and len(parts) == 2 and parts[1].endswith("Tensor") else None


def _target_of_to(interp: Interpreter, receiver: Value, call: CallSite) -> Target:
    named = call.keyword("device") or call.keyword("other")
    if named is None and call.positional:
        named = call.positional[0]
        if is_dtype(named.value, named.node) or _chooses_dtype(interp, named):
            second = call.positional[1] if len(call.positional) > 1 else None
            if second is None or not isinstance(second.value, DeviceName):
                return Target(_own(receiver), False)
            named = second
    if named is None:
        if call.unpacks:
            return Target(UNKNOWN, None)
        return Target(_own(receiver), False)
    if isinstance(named.value, Constant) and named.value.value is None:
        if not isinstance(named.node, cst.Attribute):
            return Target(_own(receiver), False)
        # An attribute that the constructor sets to None is set elsewhere later.
        named = replace(named, value=UNSET)
    if isinstance(named.value, (UnknownValue, Opaque)) and "dtype" in code_of(named.node).lower():
        return Target(_own(receiver), False)
    device = resolve_current(interp, resolve_device(interp, named.value, named.node, Sink.TRANSFER, call))
    return Target(device, True, named)


def _chooses_dtype(interp: Interpreter, named: Argument) -> bool:
    """Whether the argument is a conditional on dtypes: ``t.to(torch.float32 if on_mps else torch.float64)``."""
    node = named.node
    if not isinstance(node, cst.IfExp) or not isinstance(named.value, UnknownValue):
        return False
    arms = (node.body, node.orelse)
    return all(isinstance(arm, cst.Attribute) and is_dtype(interp.evaluate_quietly(arm), arm) for arm in arms)


def _moved(
    interp: Interpreter,
    node: cst.Call,
    receiver: Value,
    receiver_node: cst.BaseExpression,
    method: str,
    call: CallSite,
    target: Target,
) -> Value:
    if isinstance(receiver, Tensor):
        return _moved_tensor(interp, node, receiver, receiver_node, method, call, target)
    if isinstance(receiver, Opaque):
        if target.moves is False:
            return receiver
        if target.device == CPU and is_accelerator(receiver.device) and is_asynchronous(call):
            # A module is never copied with ``non_blocking`` and read on the host, so the receiver is a tensor.
            return _moved_tensor(interp, node, as_tensor(receiver), receiver_node, method, call, target)
        if method == "type":
            # Only tensors have types of tensors.
            return _moved_tensor(interp, node, as_tensor(receiver), receiver_node, method, call, target)
        provenance = interp.step(StepKind.MOVED, node, target.device, f".{method}()", receiver.provenance)
        stream, epoch = interp.state.streams.current, interp.state.streams.epoch
        sure = target.moves is True and method != "pin_memory"
        brought = replace(
            receiver, device=target.device, provenance=provenance, stream=stream, computed_at=epoch, moved=sure
        )
        if _is_moved_in_place(receiver):
            _store_back(interp, receiver_node, brought)
        return brought
    if isinstance(receiver, Module):
        if target.moves is False:
            return receiver
        provenance = interp.step(StepKind.MOVED, node, target.device, f".{method}()", receiver.provenance)
        moved = replace(receiver, device=target.device, provenance=provenance)
        _store_back(interp, receiver_node, moved)
        return moved
    if isinstance(receiver, Instance) and target.moves is not False:
        # What it was built with is where its method brings it.
        placed = receiver.device if target.moves is None or receiver.info is not None else target.device
        carried = replace(receiver, device=placed, details=(), given=())
        _store_back(interp, receiver_node, carried)
        return carried
    if isinstance(receiver, (Self, Instance, Container)):
        return receiver
    if isinstance(receiver, UnknownValue) and target.moves and target.device != UNKNOWN:
        provenance = interp.step(StepKind.MOVED, node, target.device, f".{method}()")
        streams = interp.state.streams
        return Opaque(target.device, provenance, stream=streams.current, computed_at=streams.epoch, moved=True)
    return NOTHING


def _moved_tensor(
    interp: Interpreter,
    node: cst.Call,
    receiver: Tensor,
    receiver_node: cst.BaseExpression,
    method: str,
    call: CallSite,
    target: Target,
) -> Tensor:
    if method == "pin_memory":
        # Only what is on the CPU can be pinned, so the caller's tensor was there, with whatever it meets; no stream
        # has computed it.
        return replace(receiver, pinned=True, device=CPU if receiver.device == CPU else UNKNOWN, stream=None)
    if target.moves is False:
        kind = Kind.PLAIN if receiver.kind is Kind.BUFFER else receiver.kind
        return replace(receiver, kind=kind)
    if receiver.kind is Kind.PARAMETER and receiver.device == target.device == CPU and len(call.arguments) < 2:
        return receiver  # it is the parameter itself that comes back
    was_parameter = receiver.kind in (Kind.PARAMETER, Kind.UNWRAPPED)
    unwrapped = was_parameter and target.device not in (receiver.device, CPU)
    step_kind = StepKind.UNWRAPPED if unwrapped else StepKind.MOVED
    to_host = target.device == CPU and receiver.device != CPU
    if to_host and _non_blocking(call) is False:
        # A blocking copy ends after every copy that was queued before it.
        interp.state.streams = interp.state.streams.copies_arrived()
    # `(x != 0).type(torch.FloatTensor)`: numbers are compared where they are used, and masks have dimensions.
    masks = method == "type" and receiver.dim is Dim.UNKNOWN and receiver.dtype is DType.BOOL
    way, leader = receiver.provenance, _leader(target)
    if leader is not None and (receiver.device == CPU or leader.step.kind is StepKind.STORED):
        step_kind, way = StepKind.COMPUTED, leader
    return replace(
        receiver,
        device=target.device,
        dim=Dim.NONZERO if masks else receiver.dim,
        kind=Kind.UNWRAPPED if unwrapped else Kind.PLAIN,
        provenance=interp.step(step_kind, node, target.device, f".{method}()", way),
        pinned=False,
        copied_at=interp.state.streams.copies if to_host and is_asynchronous(call) else None,
        stream=interp.state.streams.current,
        computed_at=interp.state.streams.epoch,
    )


def _leader(target: Target) -> Provenance | None:
    """The way of the tensor that is named, or its ``.device``, and may be on the CPU: what is brought there follows it.

    ``t.type_as(self.table)``: where the table is kept as a plain attribute, that is the cause.
    """
    named = target.named.value if target.named is not None else None
    names_one = isinstance(named, Tensor) or (isinstance(named, DeviceName) and named.of_tensor)
    return (
        named.provenance
        if isinstance(named, (Tensor, DeviceName)) and names_one and may_be_cpu(target.device)
        else None
    )


def is_asynchronous(call: CallSite) -> bool:
    """``non_blocking=True``."""
    return _non_blocking(call) is True


def _non_blocking(call: CallSite) -> bool | None:
    """What ``non_blocking`` says, False where it is left out; None where what it says is not known."""
    said = call.keyword("non_blocking")
    if said is None:
        return False
    value = said.value.value if isinstance(said.value, Constant) else None
    return value if isinstance(value, bool) else None


def _is_moved_in_place(receiver: Opaque) -> bool:
    """``encoded.to(device)``: what a tokenizer made is a dict that moves its own tensors, and gives itself back."""
    return ITEMS in receiver.fields and is_encoded(receiver)


def _store_back(interp: Interpreter, node: cst.BaseExpression, module: Module | Instance | Opaque) -> None:
    """What is moved in place: update the value at its storage path."""
    path = path_of(_whose(node))
    if path is not None and not interp.in_cpu_world:
        interp.state.store(path, module)


def note_moved_module(interp: Interpreter, node: cst.BaseExpression, moved: Opaque) -> None:
    """``model.to(device)`` of ``model.to(device).eval()``: modules alone have that method, so ``model`` was moved."""
    path = path_of(_whose(node))
    before = interp.state.values.get(path) if path is not None else None
    told = isinstance(before, UnknownValue) or (isinstance(before, Opaque) and not before.tensorlike)
    if told and moved.moved and moved.device != UNKNOWN:
        _store_back(interp, node, Module(moved.device, provenance=moved.provenance))


RETURN_THE_MODULE = frozenset(
    {"eval", "train", "half", "float", "double", "bfloat16", "requires_grad_", "apply", "share_memory"}
)
"""Methods of a Module that return the Module itself, where it was; transfers return it as well."""


def _whose(node: cst.BaseExpression) -> cst.BaseExpression:
    """``model`` of ``model.eval()``."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        if node.func.attr.value not in RETURN_THE_MODULE and node.func.attr.value not in METHODS:
            break
        node = node.func.value
    return node


def _note(
    interp: Interpreter,
    node: cst.Call,
    receiver: Value,
    receiver_node: cst.BaseExpression,
    target: Target,
    fate: str,
    method: str,
) -> None:
    """Record the effect of the transfer on the receiver, which stays where it is, and on its siblings.

    ``x.type_as(y)`` says nothing of them: as a rule it is written for the dtype.
    """
    if not target.moves:
        return
    if fate != Fate.USED:
        mark_discarded(interp, node, receiver, receiver_node, target.device)
        return
    if method != "type_as":
        siblings.note_move(interp, receiver, receiver_node, target.device)
        moved_for_one_use.note(interp, receiver, receiver_node, target.device, target.named)


def mark_discarded(
    interp: Interpreter, node: cst.Call, receiver: Value, receiver_node: cst.BaseExpression, target: Device
) -> None:
    """Note in the receiver's provenance that a transfer of it to ``target`` was lost."""
    path = path_of(receiver_node)
    if path is None:
        return
    if target not in (CPU, UNKNOWN) and _is_untold(receiver) and _is_used_as_module(interp, path):
        way = receiver.provenance if isinstance(receiver, Opaque) else None
        interp.state.values[path] = Module(
            target, provenance=interp.step(StepKind.MOVED, node, target, code_of(node), way)
        )
        return
    if relate(getattr(receiver, "device", UNKNOWN), target) is Relation.SAME:
        return
    if isinstance(receiver, Tensor):
        provenance = interp.step(StepKind.DISCARDED, node, receiver.device, code_of(node), receiver.provenance)
        interp.state.values[path] = replace(receiver, provenance=provenance)
    elif isinstance(receiver, Opaque) and not _is_moved_in_place(receiver):
        # Of unknown type: it may have been moved in place.
        interp.state.values[path] = replace(receiver, device=UNKNOWN)
    elif isinstance(receiver, UnknownValue) and not is_accelerator(target):
        interp.state.values[path] = NOTHING


def _is_untold(value: Value) -> bool:
    """Whether nothing says of what type it is."""
    return isinstance(value, UnknownValue) or (isinstance(value, Opaque) and not (value.tensorlike or value.fields))


def _is_used_as_module(interp: Interpreter, path: str) -> bool:
    """Whether a name is used, or called, as modules are: a statement that moves ``model`` moves it in place."""
    named = "." not in path and names_a_module(path)
    return named or path in interp.uses.modules or is_called_by_methods(interp, path)
