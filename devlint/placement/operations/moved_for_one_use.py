"""An argument that one operation gets moved, and another one as it came.

``codes.to(table.device) - table``, and ``table[0] - codes`` below: who moves a tensor for one use expects it elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_values import Opaque, Tensor, Value
from devlint.placement.domain.lattice import CPU, Device, SameAs, is_accelerator, is_given, is_of_parameter
from devlint.placement.domain.provenance import Provenance, StepKind
from devlint.placement.operations.operands import Bound, provenance_of
from devlint.placement.syntax.nodes import code_of, descend, dotted

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Argument
    from devlint.placement.interpreter.interpreter import Interpreter


def note(
    interp: Interpreter, receiver: Value, receiver_node: cst.BaseExpression, target: Device, named: Argument | None
) -> None:
    """Record a transfer of an argument that is a tensor, or of what was computed from it alone.

    ``mask.to(scores)`` is often written for the dtype. What a test of its device moves may be where it belongs, and of
    ``torch.zeros_like(x).to(device)`` the transfer is a habit.
    """
    if not isinstance(receiver, Tensor) or not is_of_parameter(receiver.device) or interp.under_device_guard:
        return
    if named is not None and isinstance(named.value, Tensor):
        return
    device = receiver.device
    whole = interp.state.values.get(device.symbol.name)
    is_tensor = isinstance(whole, Tensor) or (isinstance(whole, Opaque) and whole.tensorlike)
    elsewhere = target != device and (is_given(target) or is_accelerator(target))
    if not is_tensor or getattr(whole, "device", None) != device or not elsewhere:
        return
    if is_as_it_came(receiver.provenance) and not _is_made_like(interp, receiver_node):
        interp.state.moved_once = {**interp.state.moved_once, device.symbol.key: target}


def where_left(interp: Interpreter, operands: Sequence[Bound], devices: Sequence[Device]) -> Sequence[Device]:
    """The devices, with the CPU for an argument that meets, as it came, what it was moved to for another use."""
    moved = interp.state.moved_once
    if not moved:
        return devices
    targets = [
        moved.get(device.symbol.key) if isinstance(device, SameAs) and is_as_it_came(provenance_of(b.value)) else None
        for b, device in zip(operands, devices, strict=True)
    ]
    there = {device for b, device in zip(operands, devices, strict=True) if not _is_guessed(provenance_of(b.value))}
    return [CPU if target in there else device for target, device in zip(targets, devices, strict=True)]


def is_as_it_came(provenance: Provenance | None) -> bool:
    """Whether it came in, and operations of torch alone made something of it."""
    return provenance is not None and all(step.kind is StepKind.GIVEN for step in provenance)


def _is_made_like(interp: Interpreter, node: cst.BaseExpression) -> bool:
    """``torch.zeros_like(x)``, ``x.new_zeros(3)``, and a name that the definition binds to such a call."""
    if isinstance(node, cst.Name) and interp.info is not None:
        bound = (part for part in descend(interp.info.node.body) if isinstance(part, cst.Assign))
        values = [one.value for one in bound if any(code_of(target.target) == node.value for target in one.targets)]
    else:
        values = [node]
    calls = (part.func for value in values for part in descend(value) if isinstance(part, cst.Call))
    names = ((dotted(function) or "").rpartition(".")[2] for function in calls)
    return any(name.endswith("_like") or name.startswith("new_") for name in names)


def _is_guessed(provenance: Provenance | None) -> bool:
    """Whether it is taken to be where the arguments of an unknown callable are: that may bring its result back."""
    guesses = (StepKind.COMPUTED, StepKind.RETURNED)
    return any(step.kind in guesses and step.note for step in provenance or ())
