"""The recorder below autograd: births of storages, and what really met, forward and backward."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime.frames import here, user_frames
from devlint.runtime.judging import judge
from devlint.runtime.labels import CPU, claim_of
from devlint.runtime.recorder import streams, workers
from devlint.runtime.recorder.clashes import Seized, kind_of, mark_repaired, record_meeting, repaired
from devlint.runtime.recorder.recorder import Recorder
from devlint.runtime.recorder.strays import Stray, tell_stray
from devlint.runtime.recorder.traces import MOST_BIRTHS, Trace, set_trace, trace_of

Tensor = torch.Tensor
_aten = torch.ops.aten

_FRESH = {_aten.lift_fresh.default, _aten.lift.default}
"""What data from Python becomes a tensor with: its operand was born in the same call."""

_COPIES = {_aten._to_copy.default, _aten.copy_.default, _aten.clone.default}
"""What a transfer is below autograd; where it lands is known to the function mode only."""

_UNWRITTEN = {
    _aten.empty.memory_format,
    _aten.empty_strided.default,
    _aten.empty_like.default,
    _aten.new_empty.default,
    _aten.new_empty_strided.default,
    _aten.lift_fresh.default,
    _aten.lift.default,
}
"""What leaves its result as the memory was, or takes it from the host and waits."""

_WAITS = {
    _aten._local_scalar_dense.default,
    _aten.nonzero.default,
    _aten.masked_select.default,
    _aten.equal.default,
    _aten.is_nonzero.default,
    _aten._unique2.default,
    _aten.unique_dim.default,
    _aten.unique_consecutive.default,
    _aten.bincount.default,
    _aten.repeat_interleave.Tensor,
}
"""Calls whose result the host has to wait for (semantics: values read and sizes that depend on data)."""


class RecordingDispatch(TorchDispatchMode):
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
        recorder = self.recorder
        device_of = recorder.machine.device_of
        common: Any = None
        mixed = False
        traces: list[Trace | None] = []
        for value in (*args, *kwargs.values()) if kwargs else args:
            for item in value if isinstance(value, list | tuple) else (value,):
                if isinstance(item, Tensor):
                    trace = trace_of(item)
                    traces.append(trace)
                    device = device_of(item)
                    if common is None:
                        common = device
                    elif common is not device and common != device:
                        mixed = True
        recorder.ordering.now += 1
        if recorder.ordering.watching:
            self._look_at_order(func, args, kwargs, mixed, common)
        if mixed:
            self._reached()
            out = self._meet(func, args, kwargs)
        else:
            out = func(*args, **kwargs)
            if common == recorder.device:
                if not recorder.reached:
                    self._reached()
                if func in _WAITS:
                    self._waited(func)
        self._trace(func, out, traces)
        return out

    def _reached(self) -> None:
        recorder = self.recorder
        if recorder.in_worker and not recorder.reached:
            workers.tell_used(recorder, sys._getframe(2))
        recorder.reached = True

    def _look_at_order(self, func: Any, args: Any, kwargs: Any, mixed: bool, common: Any) -> None:
        """Reads that nothing has put after the write: by another stream, by the host."""
        recorder = self.recorder
        if common == recorder.device or mixed:
            if recorder.ordering.active:
                streams.launching(recorder, func, args, kwargs)
        elif recorder.ordering.in_flight and not recorder.local.moving:
            streams.read_by_host(recorder, func.__name__.partition(".")[0], streams.host_operands(func, args, kwargs))

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
            seized = Seized(func, meeting, recorder.machine.verdict(meeting, refused=False))
            record_meeting(recorder, seized, f"{meeting.clash.message}, yet the device took it")
        if func is _aten.copy_.default:
            streams.copied_in_place(recorder, args, kwargs)
        return out

    def _repair_here(self, seized: Seized, error: Exception, args: Any, kwargs: Any) -> Any:
        """In the backward pass no call of the program can be run again: the operand is brought over below autograd."""
        record_meeting(self.recorder, seized, str(error))
        moved = repaired(self.recorder, seized, "clash", args, kwargs) if self.recorder.repair else None
        if moved is None:
            error._devlint_told = True  # type: ignore[attr-defined]
            raise error
        out = seized.func(*moved[0], **moved[1])
        mark_repaired(out)
        return out

    def _waited(self, func: Any) -> None:
        streams.waited(self.recorder)
        frame = next(user_frames(sys._getframe(2)), None)
        if frame is not None and not self.recorder.local.quiet:
            self.recorder.counts.synchronised(frame, str(func))

    def _trace(self, func: Any, out: Any, traces: Sequence[Trace | None]) -> None:
        made = None
        ordering = self.recorder.ordering
        for item in out if isinstance(out, list | tuple) else (out,):
            if not isinstance(item, Tensor):
                continue
            claim = claim_of(item)
            if claim is None or claim.trace is None:
                on_cpu = self.recorder.machine.device_of(item) == CPU
                if made is None:
                    made = _derived(func, traces, on_cpu)
                    if func not in _UNWRITTEN:
                        made.at, made.on = ordering.now, streams.current(self.recorder)
                set_trace(item, made)
                if on_cpu and func not in _COPIES and self.recorder.local.forward and item.dim():
                    self._strayed(Stray(func, item, made, bool(traces) and func not in _FRESH))
            elif not func.is_view:
                claim.trace.at, claim.trace.on = ordering.now, streams.current(self.recorder)

    def _strayed(self, stray: Stray) -> None:
        """Where a factory's result is told to be, the function mode knows only when the call is over."""
        local = self.recorder.local
        if local.quiet:
            return
        if local.in_call:
            local.strays.append(stray)
        else:
            tell_stray(self.recorder, stray)


def _derived(func: Any, traces: Sequence[Trace | None], on_cpu: bool) -> Trace:
    """The trace of a new storage: its first operand's, births of all operands on the CPU, its own without operands."""
    raw = here(4)
    known = [t for t in traces if t is not None]
    if not known:
        born = raw is not None and (not traces or func in _FRESH)
        return Trace((raw,) if born and raw is not None else (), raw)
    births = known[0].births
    if on_cpu and len(known) > 1:
        births = tuple(dict.fromkeys(b for t in known for b in t.births))[:MOST_BIRTHS]
    return Trace(births, raw, known[0].moved, any(t.repaired for t in known))
