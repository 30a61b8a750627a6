"""States and values that leave a loop or a definition early."""

from __future__ import annotations

from dataclasses import dataclass, field

from devlint.placement.domain.abstract_state import AbstractState
from devlint.placement.domain.abstract_values import Value
from devlint.placement.domain.lattice import Decided


@dataclass(slots=True)
class Loop:
    """States that leave a loop body early."""

    breaks: list[AbstractState] = field(default_factory=list)
    continues: list[AbstractState] = field(default_factory=list)


@dataclass(slots=True)
class Exits:
    """The ``return`` statements of a definition."""

    returned: list[tuple[Value, tuple[Decided, ...]]] = field(default_factory=list)
    """Returned values, each with the conditions under which it is returned."""
    states: list[AbstractState] = field(default_factory=list)

    def count(self) -> tuple[int, int]:
        """The number of values and states, for :meth:`keep`."""
        return len(self.returned), len(self.states)

    def keep(self, count: tuple[int, int]) -> None:
        """Drop the entries added since ``count``, for code that the analysed configuration does not reach."""
        del self.returned[count[0] :]
        del self.states[count[1] :]
