"""What comes together: items of a batch, fields of an object, tensors that a caller keeps in one container.

Where one of them is moved, the others are as they came. Where one is brought to the host, none is known to be there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.declarations.evidence_conventions import names_a_batch, names_a_configuration
from devlint.placement.domain.abstract_values import NOTHING, Container, DeviceName, Opaque, Tensor, Value
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, Device, SameAs, Symbol, batch_of, is_of_parameter
from devlint.placement.operations.operands import left_behind
from devlint.placement.operations.results import shares_memory
from devlint.placement.syntax.nodes import code_of, is_part_of_rows
from devlint.records import replace
from devlint.semantics import Dim, Operation, Shape

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def note_move(interp: Interpreter, receiver: Value, node: cst.BaseExpression, target: Device) -> None:
    """Record what the move of ``node`` to ``target`` says of what came with it."""
    if not isinstance(receiver, (Tensor, Opaque)) or not isinstance(receiver.device, SameAs):
        return
    symbol = receiver.device.symbol
    if target == CPU and not interp.under_device_guard:
        note_brought_to_host(interp, receiver.device)
    if target in (CPU, UNKNOWN, receiver.device):
        return
    together = comes_in_a_batch(symbol, node) or is_field(interp, receiver, node)
    if together and not _is_selected(interp, node):
        note_moved_part(interp, symbol, target)


def note_moved_part(interp: Interpreter, symbol: Symbol, target: Device) -> None:
    """Record that an item of what came together was moved: its siblings stay."""
    interp.state.moved_groups[symbol.key] = target
    interp.state.moved_in_arms -= {symbol.key}


def note_brought_to_host(interp: Interpreter, device: Device) -> None:
    """Record that something which is where an argument is was brought to the CPU."""
    if is_of_parameter(device):
        interp.state.brought_to_host |= {device.symbol.key}


def comes_in_a_batch(symbol: Symbol, node: cst.BaseExpression) -> bool:
    """Whether the symbol is an item of a loader's batch, or of an argument named like a batch."""
    if is_part_of_rows(node):
        return False
    if symbol.anchor is Anchor.PARAMETER:
        is_item = isinstance(node, (cst.Name, cst.Subscript)) and code_of(node) != symbol.name
        return names_a_batch(symbol.name) and is_item
    return symbol.anchor is Anchor.BATCH


def is_field(interp: Interpreter, receiver: Value, node: cst.BaseExpression) -> bool:
    """Whether it was read from an argument that holds several things: a graph, an encoding, a dict of tensors.

    No configuration is meant, and no tensor with its rows.
    """
    device = receiver.device if isinstance(receiver, (Tensor, Opaque)) else None
    if not isinstance(device, SameAs) or device.symbol.anchor is not Anchor.PARAMETER:
        return False
    name = device.symbol.name
    if names_a_configuration(name) or code_of(node) == name:
        return False
    if not (isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)) or _is_got(node)) or is_part_of_rows(node):
        return False
    return _holds_several(_whole(interp, name, node), device)


def _is_got(node: cst.BaseExpression) -> bool:
    """``weights.get("bias")``."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    return node.func.attr.value in ("get", "pop") and isinstance(node.func.value, (cst.Name, cst.Attribute))


def _whole(interp: Interpreter, name: str, node: cst.BaseExpression) -> Value | None:
    """What an item was read from: the argument of this name, or the attribute that keeps one."""
    if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Attribute) and name not in interp.state.values:
        return interp.evaluate_quietly(node.value)
    return interp.state.values.get(name)


def is_one_of_several_tensors(interp: Interpreter, device: Device) -> bool:
    """Whether it came in a container that, by its annotation, holds tensors and nothing else."""
    if not isinstance(device, SameAs):
        return False
    whole = interp.state.values.get(device.symbol.name)
    return isinstance(whole, Container) and isinstance(whole.rest, Tensor) and _holds_several(whole, device)


def _holds_several(whole: Value | None, device: Device) -> bool:
    if isinstance(whole, Container):
        return not whole.items and isinstance(whole.rest, (Tensor, Opaque)) and whole.rest.device == device
    return isinstance(whole, Opaque) and not whole.tensorlike and whole.device == device


def _is_selected(interp: Interpreter, node: cst.BaseExpression) -> bool:
    """``rays[mask]``: some rows of an item, by a tensor. The item itself stays, and says nothing of its siblings."""
    if not isinstance(node, cst.Subscript):
        return False
    indices = (part.slice.value for part in node.slice if isinstance(part.slice, cst.Index))
    return any(isinstance(interp.evaluate_quietly(index), Tensor) for index in indices)


def forget_what_is_told_a_device(interp: Interpreter, statement: cst.Call) -> None:
    """``move_all(storage, device)`` as a statement: it can only move in place what it is handed with the device."""
    handed = [argument.value for argument in statement.args if not argument.star]
    if len(handed) < 2 or not any(_may_be_a_device(node) for node in handed):
        return
    if not any(isinstance(interp.evaluate_quietly(node), DeviceName) for node in handed if _may_be_a_device(node)):
        return
    for node in handed:
        name = node.value if isinstance(node, cst.Name) else ""
        value = interp.state.values.get(name)
        several = isinstance(value, Container) or (isinstance(value, Opaque) and not value.tensorlike)
        if several and value is not None and any(map(_is_as_it_came, _parts_of(value))):
            interp.state.store(name, NOTHING)


def place_of_batches(interp: Interpreter) -> Device | None:
    """Where items of batches are moved, if that is one place: there the models work that get what is made of them.

    Not what a condition moves: a model that is called in both of its arms may be where the batch came.
    """
    in_arms = interp.state.moved_in_arms
    places = {place for key, place in interp.state.moved_groups.items() if key not in in_arms}
    return next(iter(places)) if len(places) == 1 and UNKNOWN not in places else None


def viewed_batch(interp: Interpreter, item: Tensor, method: cst.Attribute, result: Value) -> Value:
    """``labels.view_as(scores)``, ``labels.squeeze()``: views of what a loader handed out have its dimension as well.

    That of a sample, ``labels[i].squeeze()``, may have none.
    """
    known = semantics.method(method.attr.value)
    views = isinstance(known, Operation) and (shares_memory(known) or known.shape is Shape.SQUEEZED)
    if not views or not isinstance(result, Tensor) or not isinstance(method.value, cst.Name):
        return result
    whole = left_behind(interp, item) and batch_of(item.device) is not None and result.dim is Dim.UNKNOWN
    return replace(result, dim=Dim.NONZERO) if whole else result


def _may_be_a_device(node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.Attribute, cst.Name)) and "dev" in code_of(node).lower()


def _parts_of(value: Value) -> tuple[Value, ...]:
    return tuple(value.innermost) if isinstance(value, Container) else (value,)


def _is_as_it_came(value: Value) -> bool:
    return isinstance(value, (Tensor, Opaque)) and isinstance(value.device, SameAs)
