"""The loops around an event, kept while the events of a definition go by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from devlint.placement.domain.events import LoopEntered, LoopLeft

T = TypeVar("T")


@dataclass(slots=True)
class Loop(Generic[T]):
    """One loop that is being read: what was seen in it, and what its body binds."""

    entered: LoopEntered
    seen: list[T] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)
    """Targets of assignments, in the source's words."""
    trains: bool = False
    """A gradient is computed in it."""


class Loops(Generic[T]):
    """The loops that are open. Events of one definition follow each other, so one stack serves a file."""

    def __init__(self) -> None:
        self._open: list[Loop[T]] = []

    @property
    def innermost(self) -> Loop[T] | None:
        return self._open[-1] if self._open else None

    def enter(self, event: LoopEntered) -> None:
        self._open.append(Loop(event))

    def bind(self, target: str) -> None:
        for loop in self._open:
            loop.bound.add(target)

    def train(self) -> None:
        for loop in self._open:
            loop.trains = True

    def leave(self, event: LoopLeft) -> Loop[T]:
        """The loop that ends here."""
        loop = self._open.pop()
        assert loop.entered.node is event.node
        return loop
