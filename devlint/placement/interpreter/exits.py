"""States and values that leave a loop or a definition early."""

from __future__ import annotations

from dataclasses import dataclass, field

from devlint.placement.domain.abstract_state import AbstractState
from devlint.placement.domain.abstract_values import NONE, Value
from devlint.placement.domain.lattice import Decided, Guard
from devlint.placement.domain.value_join import join_values

Returned = tuple[Value, tuple[Decided, ...]]
"""A returned value, and the conditions under which it is returned, the outermost first."""


@dataclass(slots=True)
class Loop:
    """States that leave a loop body early."""

    breaks: list[AbstractState] = field(default_factory=list)
    continues: list[AbstractState] = field(default_factory=list)


@dataclass(slots=True)
class Exits:
    """The ``return`` statements of a definition."""

    returned: list[Returned] = field(default_factory=list)
    """In source order."""
    states: list[AbstractState] = field(default_factory=list)

    def count(self) -> tuple[int, int]:
        """The number of values and states, for :meth:`keep`."""
        return len(self.returned), len(self.states)

    def keep(self, count: tuple[int, int]) -> None:
        """Drop the entries added since ``count``, for code that the analysed configuration does not reach."""
        del self.returned[count[0] :]
        del self.states[count[1] :]

    def result(self) -> Value:
        """The join of the returned values under their conditions; None where nothing is returned."""
        value = _joined(self.returned, 0, None)
        return NONE if value is None else value


def _joined(returned: list[Returned], depth: int, behind: Value | None) -> Value | None:
    """The join of values that have their first ``depth`` conditions in common.

    ``behind`` is what is returned where none of them is.
    """
    if not returned:
        return behind
    (value, decided), later = returned[0], returned[1:]
    if len(decided) <= depth:
        after = _joined(later, depth, None)
        return value if after is None else join_values(None, value, after)
    guard = decided[depth].guard
    arms: dict[bool, list[Returned]] = {True: [], False: []}
    rest: list[Returned] = []
    for one in returned:
        own = one[1][depth] if len(one[1]) > depth else None
        (rest if own is None or own.guard != guard else arms[own.holds]).append(one)
    behind = _joined(rest, depth, behind)
    first, second = (_joined(arms[holds], depth + 1, behind) for holds in (True, False))
    if first is None or second is None:
        return second if first is None else first
    return join_values(guard, first, second)


@dataclass(slots=True)
class CountedLoop:
    """A loop that is being evaluated: the guard of its first iteration, and its counter with where that begins."""

    first: Guard
    counter: str = ""
    start: int = 0
    on_trial: bool = True
    version: int | None = None
    """How often the counter was bound when the iteration began: a counter that the body binds anew counts nothing."""
