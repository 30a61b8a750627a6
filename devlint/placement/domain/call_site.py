"""A call with its evaluated arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Argument
from devlint.records import dataclass

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True, slots=True, eq=False)
class CallSite:
    """A call with its evaluated arguments."""

    node: cst.Call
    arguments: tuple[Argument, ...]

    @property
    def positional(self) -> tuple[Argument, ...]:
        """The positional arguments before the first unpacking."""
        found = []
        for argument in self.arguments:
            if argument.star:
                break
            if argument.keyword is None:
                found.append(argument)
        return tuple(found)

    @property
    def unpacks(self) -> bool:
        """``*args`` or ``**kwargs`` may hold any argument."""
        return any(argument.star for argument in self.arguments)

    def keyword(self, name: str) -> Argument | None:
        return next((a for a in self.arguments if a.keyword == name), None)

    def argument(self, name: str, position: int | None) -> Argument | None:
        """The argument for a parameter, by keyword or by position."""
        found = self.keyword(name)
        if found is None and position is not None:
            positional = self.positional
            found = positional[position] if position < len(positional) else None
        return found
