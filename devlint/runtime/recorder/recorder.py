"""The recorder's memory: what was observed already, and one way to say something new."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch

from devlint.runtime.frames import RUN_BACKWARD, RawSpot, outward, spots
from devlint.runtime.observation import Judged, Observation, Phase, Seen, Spot
from devlint.runtime.recorder.counts import Counts
from devlint.runtime.recorder.followed import Followed
from devlint.runtime.recorder.ordering import Ordering
from devlint.runtime.recorder.traces import seen, trace_of

Tensor = torch.Tensor
Generator = torch._C.Generator
Sink = Callable[[Observation], None]
Asker = Callable[[FrameType | None], RawSpot | None]
"""Who wanted what is made in a frame of no tensor at all, if not the code of that frame itself."""

Given = tuple[Any, Any, Any]
"""A function with its positional and its named arguments."""


class _Local(threading.local):
    """``in_call``: a torch function of the program is running, so a clash below can be repaired by running it again.
    ``given``: that function and what it was called with.

    ``forward``: a module with something on the accelerator is being called. ``quiet``: devlint's own moves.
    ``dispatched``: the operator of a meeting that the dispatcher runs, which a backward pass asks for by its name.
    ``strays``: what the running call has made on the CPU so far. ``has_read``: the host has read a value of the
    accelerator, so that numbers of the program may come from there.
    """

    in_call = False
    forward = False
    calls = 0
    quiet = False
    has_read = False
    given: Given | None = None
    dispatched: Any = None

    def __init__(self) -> None:
        self.strays: list[Any] = []


class Recorder:
    """Collects what happens and hands each distinct thing to the sink once.

    Two observations are the same when kind, operation, innermost place and the operands' births and devices agree.
    """

    def __init__(
        self, machine: Any, sink: Sink, device: torch.device, repair: bool, asker: Asker | None = None
    ) -> None:
        self.machine = machine
        self.sink = sink
        self.device = device
        self.repair = repair
        self.asker = asker
        self.followed = Followed()
        self.reached = False
        self.in_worker = False
        self.local = _Local()
        self.counts = Counts(lambda: self.local.forward)
        self.ordering = Ordering()
        self.strayed: set[Any] = set()
        self.worked_on: set[RawSpot] = set()
        """Where work on what had been brought over was told of."""
        self.streams: dict[tuple[int, int], RawSpot] = {}
        self._busy = threading.RLock()
        self._known: set[Any] = set()

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Devlint's own moves, which are not the program's doing."""
        before, self.local.quiet = self.local.quiet, True
        try:
            yield
        finally:
            self.local.quiet = before

    def emit(
        self,
        kind: str,
        operands: Sequence[tuple[str, Tensor | Generator]],
        operation: str,
        message: str,
        *,
        judged: Judged = "judge",
        detail: str = "",
    ) -> None:
        """Say what happened to these operands, each with its role, the stray one first, at the running user frame."""
        frame = sys._getframe(1)
        found = tuple(seen(t, self.machine.device_of(t), role) for role, t in operands)
        traces = (trace_of(t) for _, t in operands if isinstance(t, Tensor))
        echo = any(trace is not None and trace.repaired for trace in traces)
        self.say(kind, frame, found, operation, message, judged=judged, detail=detail, repaired=echo)

    def mends(self, grad: Tensor, place: torch.device, message: str) -> bool:
        """A backward of the program's own came to a gradient elsewhere: told, and brought over if that is wanted."""
        self.emit("clash", [("gradient", grad)], "backward", message)
        trace = trace_of(grad)
        if trace is not None and self.repair:
            trace.repaired = True
        return self.repair

    def say(
        self,
        kind: str,
        frame: FrameType | None,
        operands: tuple[Seen, ...],
        operation: str,
        message: str,
        **more: Any,
    ) -> None:
        """Say it with operands that were looked at before, at the user frames around `frame`."""
        self.tell(kind, spots(frame), operands, operation, message, phase=phase_of(frame), **more)

    def tell(
        self,
        kind: str,
        places: tuple[Spot, ...],
        operands: tuple[Seen, ...],
        operation: str,
        message: str,
        *,
        phase: Phase = "other",
        repaired: bool = False,
        judged: Judged = "judge",
        detail: str = "",
    ) -> None:
        """Say it with places that were looked up before."""
        told = detail if kind not in ("copy-per-step", "host-sync") else ""
        key = (kind, operation, places[:1], tuple((s.device, s.born, s.name) for s in operands), told, judged)
        with self._busy:
            if key in self._known:
                return
            self._known.add(key)
            self.sink(Observation(kind, places, operands, operation, message, phase, repaired, judged, detail))

    def tell_counts(self) -> None:
        """Say how often things were copied and waited for, at the end of the run."""
        self.counts.tell(self._tell_count)

    def _tell_count(
        self, kind: str, places: tuple[Spot, ...], operands: tuple[Seen, ...], operation: str, message: str, detail: str
    ) -> None:
        self.tell(kind, places, operands, operation, message, detail=detail)


def phase_of(frame: FrameType | None) -> Phase:
    """What the program is doing, read from the stack, innermost answer first."""
    for each in outward(frame):
        code = each.f_code
        if code.co_name == RUN_BACKWARD:
            return "backward"
        if code.co_name == "step" and "optim" in code.co_filename:
            return "optimizer"
        if code.co_name == "_call_impl" and code.co_filename.endswith("module.py"):
            return "forward"
    return "other"
