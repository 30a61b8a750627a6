"""The recorder below autograd: births of storages, and what really met, forward and backward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime.frames import here
from devlint.runtime.judging import judge
from devlint.runtime.labels import CPU, claim_of
from devlint.runtime.recorder.clashes import Seized, kind_of, mark_repaired, record_meeting, repaired
from devlint.runtime.recorder.recorder import Recorder
from devlint.runtime.recorder.traces import MOST_BIRTHS, Trace, set_trace

Tensor = torch.Tensor


class RecordingDispatch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees what the dispatcher runs before the machine below does."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.recorder = recorder

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No wrapper around every call: under this mode `torch.compile` runs its function eagerly anyway."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        device_of = self.recorder.machine.device_of
        devices: set[torch.device] = set()
        traces: list[Trace | None] = []
        for value in (*args, *kwargs.values()):
            items = value if isinstance(value, list | tuple) else (value,)
            for item in items:
                if isinstance(item, Tensor):
                    devices.add(device_of(item))
                    claim = claim_of(item)
                    traces.append(None if claim is None else claim.trace)
        if self.recorder.device in devices:
            self.recorder.reached = True
        out = func(*args, **kwargs) if len(devices) < 2 else self._meet(func, args, kwargs)
        self._trace(out, traces)
        return out

    def _meet(self, func: Any, args: Any, kwargs: Any) -> Any:
        recorder = self.recorder
        meeting = judge(func, args, kwargs, recorder.machine.device_of)
        try:
            out = func(*args, **kwargs)
        except Exception as error:
            if kind_of(str(error)) is None and meeting.clash is None:
                raise
            seized = Seized(func, meeting, recorder.machine.verdict(meeting, refused=True))
            if recorder.local.in_call:
                error._devlint_seized = seized  # type: ignore[attr-defined]
                raise
            return self._repair_here(seized, error, args, kwargs)
        if meeting.clash is not None:
            seized = Seized(func, meeting, "disagree")
            record_meeting(recorder, seized, f"{meeting.clash.message}, yet the device took it")
        return out

    def _repair_here(self, seized: Seized, error: Exception, args: Any, kwargs: Any) -> Any:
        """In the backward pass no call of the program can be run again: the operand is brought over below autograd."""
        record_meeting(self.recorder, seized, str(error))
        moved = repaired(self.recorder, seized, "clash", args, kwargs) if self.recorder.repair else None
        if moved is None:
            raise error
        out = seized.func(*moved[0], **moved[1])
        mark_repaired(out)
        return out

    def _trace(self, out: Any, traces: Sequence[Trace | None]) -> None:
        items = out if isinstance(out, list | tuple) else (out,)
        made = None
        for item in items:
            if isinstance(item, Tensor):
                claim = claim_of(item)
                if claim is None or claim.trace is None:
                    made = made or _derived(traces, self.recorder.machine.device_of(item) == CPU)
                    set_trace(item, made)


def _derived(traces: Sequence[Trace | None], on_cpu: bool) -> Trace:
    """The trace of a new storage: its first operand's, births of all operands on the CPU, its own without operands."""
    raw = here(3)
    known = [t for t in traces if t is not None]
    if not known:
        return Trace(births=(raw,) if raw is not None and not traces else (), made=raw)
    births = known[0].births
    if on_cpu and len(known) > 1:
        births = tuple(dict.fromkeys(b for t in known for b in t.births))[:MOST_BIRTHS]
    moved = known[0].moved
    return Trace(births, raw, moved, any(t.repaired for t in known))
