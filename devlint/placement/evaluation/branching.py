"""Two arms from one state: what each of them knows, and what is known after both."""

from __future__ import annotations

from collections.abc import Callable

from devlint.placement.domain.abstract_state import Environment, join
from devlint.placement.interpreter.interpreter import Walk
from devlint.placement.state.conditions import Condition


def branch(walk: Walk, condition: Condition, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    """Both arms from the same state, joined; an arm the analysed world never takes is walked for its own facts only."""
    before = walk.state
    after_then = _arm(walk, condition, True, before, then)
    after_otherwise = _arm(walk, condition, False, before, otherwise)
    if condition.known is not None:
        walk.env, other = (after_then, after_otherwise) if condition.known else (after_otherwise, after_then)
        if walk.env is not None and other is not None:
            walk.env.on_cpu, walk.env.on_accelerator = before.on_cpu, before.on_accelerator
    else:
        guard = condition.guard
        first, second = (after_otherwise, after_then) if condition.negated else (after_then, after_otherwise)
        walk.env = join(guard, first, second)


def _arm(
    walk: Walk, condition: Condition, outcome: bool, before: Environment, run: Callable[[], None]
) -> Environment | None:
    guard = condition.guard
    holds = outcome is not condition.negated
    walk.env = before.narrowed(guard, holds) if guard is not None else before.copy()
    condition.narrow(walk.env, outcome)
    unreachable = condition.known is not None and condition.known is not outcome
    decides = condition.cpu_when is not None
    on_cpu = decides and (condition.cpu_when is outcome or unreachable)
    walk.env.on_cpu = walk.env.on_cpu or on_cpu
    walk.env.on_accelerator = walk.env.on_accelerator or (decides and not on_cpu)
    walk.env.dead = walk.env.dead or unreachable
    exits = walk.exits.count()
    with walk.under(guard, holds):
        run()
    if unreachable:
        walk.exits.keep(exits)
    return walk.env
