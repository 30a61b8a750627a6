"""The same copy made again and again, and waits of the host: told at the end of the run with how often."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from devlint.runtime.frames import spot, spots
from devlint.runtime.observation import Seen, Spot
from devlint.runtime.recorder.traces import Trace

Report = Callable[[str, tuple[Spot, ...], tuple[Seen, ...], str, str, str], None]
"""Takes the kind of an observation, where it was made, its operands, the operation, a message and a detail."""


class Counts:
    """Copies and waits by place, told at the end of the run with how often they happened."""

    def __init__(self, in_forward: Callable[[], bool]) -> None:
        """``in_forward`` says whether a ``forward`` is running in this thread."""
        self._in_forward = in_forward
        self.copies: dict[Any, list[Any]] = {}
        self.waits: dict[Any, list[Any]] = {}

    def copied(self, frame: FrameType, before: torch.device, after: torch.device, source: Trace) -> None:
        raw = (frame.f_code, frame.f_lasti)
        inside = self._in_forward()
        # Outside forward a batch is moved once each: only the same value moved again is a repetition.
        key = (raw, before, after) if inside else (raw, before, after, source.births)
        entry = self.copies.get(key)
        if entry is None:
            if not inside and not source.births:
                return
            # The trace itself: the number of one that is gone may be given to another.
            self.copies[key] = [1, spots(frame), before, after, source.births, source]
        elif inside or entry[5] is source:
            entry[0] += 1

    def synchronised(self, frame: FrameType, operation: str) -> None:
        raw = (frame.f_code, frame.f_lasti)
        entry = self.waits.get(raw)
        if entry is None:
            self.waits[raw] = [1, spots(frame), operation, self._in_forward()]
        else:
            entry[0] += 1

    def tell(self, report: Report) -> None:
        for count, places, before, after, births, _ in self.copies.values():
            if count > 1:
                born = spot(births[0]) if births else None
                operand = Seen("", str(before), (), "", born)
                message = f"copied from {before} to {after} {count} times"
                report("copy-per-step", places, (operand,), "Tensor.to", message, str(count))
        for count, places, operation, inside in self.waits.values():
            if count > 1 or inside:
                message = f"the host waited for the accelerator {count} times"
                report("host-sync", places, (), operation, message, str(count))
        self.copies.clear()
        self.waits.clear()
