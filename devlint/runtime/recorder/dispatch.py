"""The recorder below autograd: births of storages, and what really met, forward and backward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime.frames import RawSpot, caller, here, user_frames
from devlint.runtime.judging import Meeting, judge
from devlint.runtime.labels import CPU, address_of, claim_of, claims
from devlint.runtime.recorder import streams, workers
from devlint.runtime.recorder.clashes import Seized, kind_of, mark_repaired, record_meeting, repaired
from devlint.runtime.recorder.kinds_of_work import KINDS_OF_WORK, KindOfWork, learn
from devlint.runtime.recorder.ordering import DEFAULT
from devlint.runtime.recorder.recorder import Recorder
from devlint.runtime.recorder.responsible import traces_on_the_cpu
from devlint.runtime.recorder.strays import Stray, tell_stray
from devlint.runtime.recorder.traces import MOST_BIRTHS, Trace, set_trace

Tensor = torch.Tensor


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
        known = KINDS_OF_WORK.get(id(func)) or learn(func)
        device_of = recorder.machine.device_of
        common: Any = None
        mixed = False
        traces: list[Trace | None] = []
        for value in (*args, *kwargs.values()) if kwargs else args:
            for item in value if isinstance(value, list | tuple) else (value,):
                if isinstance(item, Tensor):
                    try:
                        claim = claims.get(address_of(item))
                    except RuntimeError:
                        claim = claim_of(item)
                    traces.append(None if claim is None else claim.trace)
                    device = device_of(item)
                    if common is None:
                        common = device
                    elif common is not device and common != device:
                        mixed = True
        ordering = recorder.ordering
        ordering.now += 1
        if ordering.watching:
            self._look_at_order(known, args, kwargs, mixed, common)
        if mixed:
            self._reached()
            out = self._meet(func, args, kwargs)
        else:
            try:
                out = func(*args, **kwargs)
            except Exception as error:
                meeting = judge(func, args, kwargs, device_of)
                if meeting.clash is None:
                    raise
                out = self._refused(func, meeting, error, args, kwargs)
            if common == recorder.device:
                if not recorder.reached:
                    self._reached()
                if known.waits:
                    self._waited(func)
        self._trace(known, out, traces)
        return out

    def _reached(self) -> None:
        recorder = self.recorder
        if recorder.in_worker and not recorder.reached:
            workers.tell_used(recorder, caller(2))
        recorder.reached = True

    def _look_at_order(self, known: KindOfWork, args: Any, kwargs: Any, mixed: bool, common: Any) -> None:
        """Reads that nothing has put after the write: by another stream, by the host."""
        recorder = self.recorder
        if common == recorder.device or mixed:
            if recorder.ordering.active:
                streams.launching(recorder, known.func, args, kwargs)
        elif recorder.ordering.in_flight and not known.is_queued_behind:
            name = known.func.__name__.partition(".")[0]
            streams.read_by_host(recorder, name, streams.host_operands(known.func, args, kwargs))

    def _meet(self, func: Any, args: Any, kwargs: Any) -> Any:
        recorder = self.recorder
        meeting = judge(func, args, kwargs, recorder.machine.device_of)
        before, recorder.local.dispatched = recorder.local.dispatched, func
        try:
            out = func(*args, **kwargs)
        except Exception as error:
            if kind_of(str(error)) is None and meeting.clash is None:
                raise
            return self._refused(func, meeting, error, args, kwargs)
        finally:
            recorder.local.dispatched = before
        if meeting.clash is not None:
            seized = Seized(func, meeting, recorder.machine.verdict(meeting, refused=False))
            record_meeting(recorder, seized, f"{meeting.clash.message}, yet the device took it")
        if func is torch.ops.aten.copy_.default:
            streams.copied_in_place(recorder, args, kwargs)
        return out

    def _refused(self, func: Any, meeting: Meeting, error: Exception, args: Any, kwargs: Any) -> Any:
        """The call of the program that this is part of knows how to go on. In the backward pass no call of it can be
        run again: the operand is brought over below autograd."""
        seized = Seized(func, meeting, self.recorder.machine.verdict(meeting, refused=True))
        if self.recorder.local.in_call:
            error._devlint_seized = seized  # type: ignore[attr-defined]
            raise error
        record_meeting(self.recorder, seized, str(error))
        kind = kind_of(str(error)) or "clash"
        moved = repaired(self.recorder, seized, kind, args, kwargs, backward=True) if self.recorder.repair else None
        if moved is None:
            error._devlint_told = True  # type: ignore[attr-defined]
            raise error
        out = seized.func(*moved[0], **moved[1])
        mark_repaired(out)
        return out

    def _waited(self, func: Any) -> None:
        streams.waited(self.recorder)
        self.recorder.local.has_read = True
        frame = next(user_frames(caller(2)), None)
        if frame is not None and not self.recorder.local.quiet:
            self.recorder.counts.synchronised(frame, str(func))

    def _trace(self, known: KindOfWork, out: Any, traces: Sequence[Trace | None]) -> None:
        made = None
        ordering = self.recorder.ordering
        for item in out if isinstance(out, list | tuple) else (out,):
            if not isinstance(item, Tensor):
                continue
            try:
                claim = claims.get(address_of(item))
            except RuntimeError:
                claim = claim_of(item)
            if claim is None or claim.trace is None:
                on_cpu = self.recorder.machine.device_of(item) == CPU
                if made is None:
                    if not traces and on_cpu and self.recorder.local.given is not None:
                        traces = traces_on_the_cpu(self.recorder, self.recorder.local.given)
                    made = _derived(known, traces, on_cpu)
                    if on_cpu and self.recorder.asker is not None and made.births == (made.made,):
                        asked = self.recorder.asker(caller(2))
                        made.births = made.births if asked is None else (asked,)
                    if made.repaired and made.made is not None:
                        self._worked_on(made.made)
                    if known.is_fresh and self.recorder.local.has_read:
                        made.of_read = True
                    if known.writes:
                        made.at = ordering.now
                        made.on = streams.current(self.recorder) if ordering.active else DEFAULT
                set_trace(item, made)
                if on_cpu and not known.copies and self.recorder.local.forward and item.dim():
                    self._strayed(Stray(known.func, item, made, bool(traces) and not known.is_fresh))
            elif not known.is_view:
                claim.trace.at = ordering.now
                claim.trace.on = streams.current(self.recorder) if ordering.active else DEFAULT

    def _worked_on(self, raw: RawSpot) -> None:
        """Tell of work that proves nothing if it does not clash: once of each place, for there may be much of it."""
        recorder = self.recorder
        if raw not in recorder.worked_on and not recorder.local.quiet:
            recorder.worked_on.add(raw)
            recorder.say("brought-over", caller(2), (), "", "")

    def _strayed(self, stray: Stray) -> None:
        """Where a factory's result is told to be, the function mode knows only when the call is over."""
        local = self.recorder.local
        if local.quiet:
            return
        if local.in_call:
            local.strays.append(stray)
        else:
            tell_stray(self.recorder, stray)


def _derived(work: KindOfWork, traces: Sequence[Trace | None], on_cpu: bool) -> Trace:
    """The trace of a new storage: its first operand's, births of all operands on the CPU, its own without operands."""
    raw = here(4)
    births: tuple[RawSpot, ...] | None = None
    moved, repaired, hosted, told, of_read, apart = None, False, False, False, False, False
    for trace in traces:
        if trace is not None:
            if births is None:
                births, moved = trace.births, trace.moved
            elif trace.births is not births:
                apart = True
            repaired = repaired or trace.repaired
            hosted = hosted or trace.hosted
            told = told or trace.told
            of_read = of_read or trace.of_read
    if births is None:
        born = raw is not None and (not traces or work.is_fresh)
        return Trace((raw,) if born and raw is not None else (), raw)
    if on_cpu and apart:
        births = tuple(dict.fromkeys(b for t in traces if t is not None for b in t.births))[:MOST_BIRTHS]
    return Trace(births, raw, moved, repaired, on_cpu and hosted, told=on_cpu and told, of_read=on_cpu and of_read)
