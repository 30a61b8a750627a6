"""The current stream, and which work on other streams is certainly ordered before it.

Source: PyTorch's CUDA semantics notes, "CUDA streams": work on different streams is unordered until one waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from devlint.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class StreamOrder:
    """The order of streams at one point.

    An *epoch* counts the waits so far; work belongs to the epoch in which it starts.
    """

    current: str = ""
    """The current side stream; empty for the default stream."""
    epoch: int = 0
    waits: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """(waiting stream, awaited stream) to the epoch up to which the order is certain."""
    ordered_until: int = -1
    """Epoch of the last full synchronisation: work up to it is ordered before any stream."""
    copies: int = 0
    """Number of times the host has waited for queued copies: a copy queued at this count may be unfinished."""

    def on(self, stream: str) -> StreamOrder:
        """The same order with another current stream."""
        return replace(self, current=stream)

    def waited(self, waiting: str, awaited: str) -> StreamOrder:
        """After ``waiting.wait_stream(awaited)``."""
        return replace(self, waits={**self.waits, (waiting, awaited): self.epoch}, epoch=self.epoch + 1)

    def copies_arrived(self) -> StreamOrder:
        """After the host has waited for the copies queued so far."""
        return replace(self, copies=self.copies + 1)

    def synchronised(self) -> StreamOrder:
        """After the host has waited for all work: every order is certain, all copies have finished."""
        return replace(self, ordered_until=self.epoch, epoch=self.epoch + 1, copies=self.copies + 1)

    def orders(self, stream: str, epoch: int) -> bool:
        """Whether work of an epoch on another stream is certainly ordered before new work of the current stream."""
        return max(self.waits.get((self.current, stream), -1), self.ordered_until) >= epoch

    def joined(self, other: StreamOrder) -> StreamOrder:
        """The join of two orders; the current stream is that of ``self``."""
        if self is other:
            return self
        waits = {key: min(epoch, other.waits[key]) for key, epoch in self.waits.items() if key in other.waits}
        return StreamOrder(
            self.current,
            max(self.epoch, other.epoch),
            waits,
            min(self.ordered_until, other.ordered_until),
            max(self.copies, other.copies),
        )


NO_SIDE_STREAM = StreamOrder()
