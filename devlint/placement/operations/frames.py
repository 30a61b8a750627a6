"""Frames: attributes under whose keys an object keeps tensors that are where it is itself (``graph.ndata["h"]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.domain.abstract_values import Evidence, Host, Opaque, Tensor, Value
from devlint.placement.domain.lattice import is_of_parameter
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.operands import Bound
from devlint.semantics import Dim, Operation, library_models

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def frame_of(node: cst.BaseExpression) -> str:
    """The row of the operation that stores an item of a frame; empty for what is none."""
    if not isinstance(node, cst.Attribute):
        return ""
    name, owner = node.attr.value, node.value
    if isinstance(owner, cst.Subscript) and isinstance(owner.value, cst.Attribute):
        name = f"{owner.value.attr.value}[].{name}"
    return library_models.anywhere().frames.get(name, "")


def is_of_rows(interp: Interpreter, node: cst.BaseExpression) -> bool:
    """``table.iloc``, by which pandas alone names rows; ``table.loc`` of what is known to hold arrays."""
    if not isinstance(node, cst.Attribute) or node.attr.value not in ("iloc", "loc"):
        return False
    held = interp.evaluate_quietly(node.value) if node.attr.value == "loc" else None
    return held is None or (isinstance(held, Host) and held.numpy)


def read(frame: Opaque) -> Tensor:
    """An item of a frame: one row for each node or edge."""
    return Tensor(frame.device, Dim.NONZERO, evidence=Evidence.LIKELY, provenance=frame.provenance)


def write(
    interp: Interpreter, target: cst.Subscript, frame: Opaque, value: Value, node: cst.BaseExpression | None
) -> None:
    """What is stored has to be where the object is; a dict is one tensor for each type."""
    operation = semantics.function(frame_of(target.value))
    if not isinstance(operation, Operation) or _prepares(interp, frame):
        return
    owner = target.value.value if isinstance(target.value, cst.Attribute) else target.value
    if isinstance(owner, cst.Subscript) and isinstance(owner.value, cst.Attribute):
        owner = owner.value.value
    given: list[tuple[Value, cst.CSTNode]] = [(value, node if node is not None else target)]
    if isinstance(node, cst.Dict):
        parts = [part.value for part in node.elements]
        given = [(interp.evaluate_quietly(part), part) for part in parts]
    for one, at in given:
        if isinstance(one, (Tensor, Opaque)):
            bound = [Bound("graph", frame, owner, strict=True), Bound("value", one, at)]
            perform(interp, target, operation, bound)


def _prepares(interp: Interpreter, frame: Opaque) -> bool:
    """Whether the object came to a function that belongs to no Module: such prepare data, which lies on the CPU."""
    device = frame.device
    came_in = is_of_parameter(device)
    owner = interp.info.owner if interp.info is not None else None
    return came_in and (owner is None or not owner.is_module)
