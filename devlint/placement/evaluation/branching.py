"""Branches: both arms evaluated from one state, and the join of the results."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from devlint.placement.calls.own_attributes import of_self
from devlint.placement.declarations.own_transfers import moves_itself
from devlint.placement.domain.abstract_state import AbstractState, join
from devlint.placement.domain.abstract_values import NONE, Self, Tensor
from devlint.placement.domain.lattice import Decided
from devlint.placement.interpreter.interpreter import Interpreter
from devlint.placement.state.conditions import Condition
from devlint.placement.state.later_stores import is_stored_by_others

_HEARD = nullcontext()


def branch(interp: Interpreter, condition: Condition, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    """Evaluate both arms and join them; an arm the analysed configuration never takes yields only its own facts."""
    before = interp.state
    after_then = _arm(interp, condition, True, before, then)
    after_otherwise = _arm(interp, condition, False, before, otherwise)
    if after_then is not None and after_otherwise is not None:
        _keep_attributes(interp, after_then, after_otherwise)
        _keep_attributes(interp, after_otherwise, after_then)
    if condition.known is not None:
        interp.env, other = (after_then, after_otherwise) if condition.known else (after_otherwise, after_then)
        if interp.env is not None and other is not None:
            interp.env.on_cpu, interp.env.on_accelerator = before.on_cpu, before.on_accelerator
    else:
        guard = condition.guard
        first, second = (after_otherwise, after_then) if condition.negated else (after_then, after_otherwise)
        interp.env = join(guard, first, second)
        if interp.env is not None and guard is not None and (first is None) is not (second is None):
            interp.env.left = (*interp.env.left, Decided(guard, first is not None))


def _keep_attributes(interp: Interpreter, stored: AbstractState, kept: AbstractState) -> None:
    """A tensor of ``self`` that one arm replaces is in the other one what the class says of it."""
    for path in [path for path in stored.values if path not in kept.values]:
        root, _, name = path.partition(".")
        owner = stored.values.get(root)
        if name.isidentifier() and isinstance(owner, Self):
            value = of_self(interp, owner, name)
            if value == NONE and not is_stored_by_others(interp, owner.info, name):
                # `if self.grid is None: self.grid = ...`: where it is not None, an earlier call stored it here.
                value = stored.values[path]
            if isinstance(value, Tensor) and not moves_itself(owner.info, name):
                kept.values[path] = value


def _arm(
    interp: Interpreter, condition: Condition, outcome: bool, before: AbstractState, run: Callable[[], None]
) -> AbstractState | None:
    guard = condition.guard
    holds = outcome is not condition.negated
    inside = before
    if condition.narrowings:
        inside = before.copy()
        condition.narrow(inside, outcome)
    # An earlier test of the same type has left a choice: of what the test shows, the arm that is taken.
    interp.env = inside.narrowed(guard, holds) if guard is not None else inside.copy()
    unreachable = condition.known is not None and condition.known is not outcome
    decides = condition.cpu_when is not None
    on_cpu = decides and (condition.cpu_when is outcome or unreachable)
    interp.env.on_cpu = interp.env.on_cpu or on_cpu
    interp.env.on_accelerator = interp.env.on_accelerator or (decides and not on_cpu)
    interp.env.dead = interp.env.dead or unreachable
    exits = interp.exits.count()
    with interp.under(guard, holds), interp.trial() if unreachable and condition.settled else _HEARD:
        run()
    if unreachable:
        interp.exits.keep(exits)
    return interp.env
