"""Where a file starts CUDA, in the order in which its code runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.rules.naming.visible_devices import STARTS_CUDA

if TYPE_CHECKING:
    from devlint.placement.domain.events import Called, Event
    from devlint.placement.domain.scope import Scope

STARTS_PROCESSES = ("subprocess.", "multiprocessing.", "torch.multiprocessing.", "os.exec", "os.spawn", "os.system")

MODULE_LEVEL = ""
"""The qualified name of the module's own scope."""


@dataclass(slots=True)
class _Order:
    """What a definition did so far that matters here, in the order of the source."""

    touch: Event | None = None
    """Its first use of CUDA."""
    touch_in_main: bool = False
    called_before: set[str] = field(default_factory=set)
    """Names called before CUDA was started, and after."""
    called_after: set[str] = field(default_factory=set)
    starts_processes: bool = False


class CudaStart:
    """The first use of CUDA in each definition of a file, as the events of the file come in."""

    def __init__(self) -> None:
        self._orders: dict[str, _Order] = {}
        self.in_main = False
        """The module's code has come to `if __name__ == "__main__"`: from here on nothing runs at import."""

    def note_call(self, event: Called) -> None:
        order = self._order(event.scope)
        if event.name in STARTS_CUDA:
            self.note_touch(event)
        elif event.name.startswith(STARTS_PROCESSES):
            order.starts_processes = True
        else:
            (order.called_before if order.touch is None else order.called_after).add(event.name)

    def note_touch(self, event: Event) -> None:
        """CUDA is used: the first use in a definition starts it, if it was not started before."""
        order = self._order(event.scope)
        if order.touch is None:
            order.touch = event
            order.touch_in_main = self.in_main and event.scope.qualname == MODULE_LEVEL

    def touch_in(self, scope: Scope) -> Event | None:
        """The first use of CUDA in a definition so far; None if there is none."""
        return self._order(scope).touch

    def starts_processes(self, scope: Scope) -> bool:
        """Whether a definition starts other processes, which read the environment anew."""
        return self._order(scope).starts_processes

    def at_import_before(self, scope: Scope) -> Event | None:
        """What started CUDA at import, before the function of this scope runs; None if nothing did.

        Module-level code runs before a function does, unless it called that function first. What stands under
        `if __name__ == "__main__"` comes before only what is called after it there.
        """
        order = self._orders.get(MODULE_LEVEL)
        if scope.qualname == MODULE_LEVEL or order is None or order.touch is None:
            return None
        if order.touch_in_main:
            return order.touch if scope.qualname in self._reached(order.called_after) else None
        return None if scope.qualname in self._reached(order.called_before) else order.touch

    def _order(self, scope: Scope) -> _Order:
        return self._orders.setdefault(scope.qualname, _Order())

    def _reached(self, called: set[str]) -> set[str]:
        """What is called by these names, and by what they call."""
        reached = set(called)
        while True:
            orders = [order for name, order in self._orders.items() if name in reached]
            more = {name for order in orders for name in order.called_before | order.called_after} - reached
            if not more:
                return reached
            reached |= more
