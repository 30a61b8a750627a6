"""Loops that count: which test of the counter asks for the first iteration, and which points that one does not reach.

for step in range(steps):
    if step == 0:                  # the first iteration
        state = torch.zeros_like(x)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.lattice import Device, Guard, assume
from devlint.placement.interpreter.exits import CountedLoop
from devlint.placement.syntax.nodes import dotted, literal

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def counted(node: cst.CSTNode, first: Guard) -> CountedLoop:
    """The loop with its counter: ``i`` of ``for i in range(n)`` and of ``for i, x in enumerate(xs)``."""
    if not isinstance(node, cst.For):
        return CountedLoop(first)
    call = node.iter
    target: cst.BaseExpression = node.target
    while isinstance(call, cst.Call) and (dotted(call.func) or "").rpartition(".")[2] in _BARS and call.args:
        call = call.args[0].value
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name):
        return CountedLoop(first)
    given = [argument.value for argument in call.args if argument.keyword is None and not argument.star]
    named = {argument.keyword.value: argument.value for argument in call.args if argument.keyword is not None}
    begin: cst.BaseExpression | None = None
    if call.func.value in ("range", "trange"):
        begin = given[0] if len(given) > 1 else None
    elif call.func.value == "enumerate" and isinstance(target, cst.Tuple) and target.elements:
        begin = given[1] if len(given) > 1 else named.get("start")
        target = target.elements[0].value
    else:
        return CountedLoop(first)
    start = _number(begin) if begin is not None else 0
    return CountedLoop(first, target.value if isinstance(target, cst.Name) and start is not None else "", start or 0)


_BARS = ("tqdm", "track", "progress_bar")
"""What shows how far a loop is, and hands on the items of its first argument."""


def begin(interp: Interpreter) -> None:
    """Note that an iteration of the innermost loop begins, with its counter bound."""
    loop = interp.counted[-1]
    loop.version = interp.state.versions.get(loop.counter)


@contextmanager
def running(interp: Interpreter, loop: CountedLoop) -> Iterator[CountedLoop]:
    """A loop around what is evaluated meanwhile."""
    interp.counted.append(loop)
    try:
        yield loop
    finally:
        interp.counted.pop()


def asked(interp: Interpreter, node: cst.BaseExpression) -> tuple[Guard, bool] | None:
    """The guard of the first iteration that a condition asks for, and whether it asks for the others: ``i > 0``."""
    if not interp.counted:
        return None
    name, first = _compared(node)
    for loop in reversed(interp.counted):
        if name and loop.counter == name:
            outcome = first.get(loop.start)
            same = loop.version == interp.state.versions.get(name)
            return (loop.first, not outcome) if outcome is not None and same else None
    return None


def _compared(node: cst.BaseExpression) -> tuple[str, dict[int, bool]]:
    """The name that a condition compares; the outcome in the first iteration by the number that is first."""
    if isinstance(node, cst.Name):
        return node.value, {0: False}
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1 or not isinstance(node.left, cst.Name):
        return "", {}
    (compared,) = node.comparisons
    number = _number(compared.comparator)
    if number is None:
        return "", {}
    match compared.operator:
        case cst.Equal() | cst.LessThanEqual():
            return node.left.value, {number: True}
        case cst.NotEqual() | cst.GreaterThan():
            return node.left.value, {number: False}
        case cst.LessThan():
            return node.left.value, {number - 1: True}
        case cst.GreaterThanEqual():
            return node.left.value, {number - 1: False}
    return "", {}


def _number(node: cst.BaseExpression) -> int | None:
    try:
        value = literal(node)
    except ValueError:
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def on_trial(interp: Interpreter) -> list[Guard]:
    """The guards of the loops whose first iteration is being tried: they hold."""
    return [loop.first for loop in interp.counted if loop.on_trial]


def at_first(interp: Interpreter, device: Device) -> Device:
    """The device in the first iteration of the loops that are tried."""
    for first in on_trial(interp):
        device = assume(device, first, True)
    return device


def outcome_here(interp: Interpreter, first: Guard) -> bool | None:
    """What the conditions around the current point say of the first iteration of a loop; None if nothing."""
    decided = (*interp.arms, *interp.state.left)
    return next((one.holds for one in decided if one.guard == first), None)


def is_later(interp: Interpreter) -> bool:
    """Whether no first iteration that is being tried comes to the current point."""
    return any(outcome_here(interp, first) is False for first in on_trial(interp))
