"""A call with its evaluated arguments."""

from __future__ import annotations

from dataclasses import field
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

    _positional: tuple[Argument, ...] | None = field(default=None, init=False, repr=False)

    @property
    def positional(self) -> tuple[Argument, ...]:
        """The positional arguments before the first unpacking."""
        # Asked many times of each call: by what evaluates it, and by the rules.
        if self._positional is None:
            found = []
            for argument in self.arguments:
                if argument.star:
                    break
                if argument.keyword is None:
                    found.append(argument)
            object.__setattr__(self, "_positional", tuple(found))
        return self._positional or ()

    @property
    def unpacks(self) -> bool:
        """``*args`` or ``**kwargs`` may hold any argument."""
        return any(argument.star for argument in self.arguments)

    def keyword(self, name: str) -> Argument | None:
        for argument in self.arguments:
            if argument.keyword == name:
                return argument
        return None

    def argument(self, name: str, position: int | None) -> Argument | None:
        """The argument for a parameter, by keyword or by position."""
        found = self.keyword(name)
        if found is None and position is not None:
            positional = self.positional
            found = positional[position] if position < len(positional) else None
        return found
