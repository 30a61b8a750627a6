"""Comparisons of tensors, devices and device counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.domain.abstract_values import (
    DEVICE_COUNT,
    Constant,
    Container,
    DeviceName,
    Host,
    Instance,
    Opaque,
    Tensor,
    Truth,
    Value,
    counted,
)
from devlint.placement.domain.events import Compared
from devlint.placement.operations import device_questions
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.operands import operator_operands
from devlint.placement.state.host_reads import host_read
from devlint.placement.syntax.operators import COMPARISON

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def comparison(interp: Interpreter, node: cst.Comparison) -> Value:
    left_node: cst.BaseExpression = node.left
    left = interp.evaluate(left_node)
    result: Value = Host()
    for target in node.comparisons:
        right = interp.evaluate(target.comparator)
        symbol = COMPARISON[type(target.operator)]
        interp.emit(Compared(node, interp.scope, left, left_node, symbol, right, target.comparator))
        result = _compared(interp, node, symbol, (left, left_node), (right, target.comparator))
        left, left_node = right, target.comparator
    return result


def _compared(
    interp: Interpreter,
    node: cst.Comparison,
    symbol: str,
    left: tuple[Value, cst.BaseExpression],
    right: tuple[Value, cst.BaseExpression],
) -> Value:
    values = (left[0], right[0])
    if symbol in ("is", "is not", "in", "not in"):
        about = any(isinstance(value, DeviceName) for value in values)
        return device_questions.of_comparison(symbol, *values) if about else Truth()
    if any(isinstance(value, DeviceName) for value in values):
        return device_questions.of_comparison(symbol, *values)
    if any(isinstance(value, Truth) and value.about_device for value in values):
        return Truth(about_device=True)
    kinds = {counted(value) for value in values if isinstance(value, Instance)} - {""}
    if kinds:
        return Truth(_is_one_or_more(symbol, values), about_device=DEVICE_COUNT in kinds)
    arrays = any(isinstance(value, Host) and value.numpy for value in values)
    if symbol in ("==", "!=") and any(isinstance(value, Container) for value in values) and not arrays:
        # A tensor is equal to no list, tuple or dict: where the binding raises `TypeError`, `__eq__` gives
        # `NotImplemented` (torch.Tensor.__eq__, observed), and Python compares identities.
        return Truth()
    if any(isinstance(value, (Tensor, Opaque)) for value in values):
        operation = semantics.operator(symbol)
        return perform(interp, node, operation, operator_operands(operation, left, right))
    for value, expression in (left, right):
        host_read(interp, node, symbol, value, expression=expression)
    return Host(numpy=arrays)


def _is_one_or_more(symbol: str, values: tuple[Value, Value]) -> bool | None:
    """``device_count() > 0`` holds in the analysed configuration; whether there is a second accelerator is unknown."""
    bound = values[1].value if isinstance(values[1], Constant) else None
    if (symbol, bound) in ((">", 0), (">=", 1), ("!=", 0)):
        return True
    return False if (symbol, bound) in (("==", 0), ("<", 1)) else None
