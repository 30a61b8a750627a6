"""Streams of the device under test: who waits for whom, and reads that nothing has put after the write.

The same on both machines: the Python layer of `torch.cuda` and the C functions below it are what a program waits by.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import torch

from devlint.runtime.frames import caller, here, spot, user_frames
from devlint.runtime.labels import CPU
from devlint.runtime.observation import Seen
from devlint.runtime.patching import Patches
from devlint.runtime.recorder.ordering import DEFAULT, Known
from devlint.runtime.recorder.recorder import Recorder, phase_of
from devlint.runtime.recorder.traces import Trace, seen, trace_of

Tensor = torch.Tensor

READS_MEMORY = frozenset((Tensor.numpy, Tensor.tolist, Tensor.__array__, Tensor.__dlpack__, Tensor.__repr__))
"""What reads a CPU tensor without running an operation on it."""


def install(recorder: Recorder, patches: Patches) -> None:
    """Learn of all that waits. Nothing is to be learnt where there is no CUDA device, real or simulated."""
    if recorder.device.type != "cuda" or not hasattr(torch._C, "_cuda_setStream"):
        return
    _watch_events(recorder, patches, torch.cuda.Event)
    _watch_streams(recorder, patches, torch.cuda.Stream)
    ordering = recorder.ordering
    true_set, true_synchronise = torch._C._cuda_setStream, torch._C._cuda_synchronize

    def set_stream(*args: Any, **kwargs: Any) -> None:
        number = kwargs.get("stream_id", args[0] if args else DEFAULT)
        ordering.enter_stream(number)
        true_set(*args, **kwargs)

    def synchronise() -> None:
        true_synchronise()
        if torch._C._cuda_getDevice() == recorder.device.index:
            ordering.host_waits_for_all()
        elif recorder.reached:
            message = f"{_current_device(recorder)} is synchronised, and the run's work is on {recorder.device}"
            frame = next(user_frames(sys._getframe(1)), None)
            recorder.say("other-stream", frame, (), "torch.cuda.synchronize", message)

    patches.set(torch._C, "_cuda_setStream", set_stream)
    patches.set(torch._C, "_cuda_synchronize", synchronise)
    if hasattr(torch._C, "_accelerator_synchronizeDevice"):
        true_synchronise_device = torch._C._accelerator_synchronizeDevice

        def synchronise_device(index: int) -> None:
            true_synchronise_device(index)
            if index == recorder.device.index:
                ordering.host_waits_for_all()

        patches.set(torch._C, "_accelerator_synchronizeDevice", synchronise_device)


def _watch_events(recorder: Recorder, patches: Patches, event: Any) -> None:
    ordering = recorder.ordering
    true_record, true_wait = event.record, event.wait
    true_synchronise, true_query = event.synchronize, event.query

    def record(self: Any, stream: Any = None) -> None:
        true_record(self, stream)
        number = _number(recorder, stream)
        self._devlint_over = {} if number is None else ordering.recorded(number)

    def wait(self: Any, stream: Any = None) -> None:
        true_wait(self, stream)
        if (number := _number(recorder, stream)) is not None:
            ordering.stream_waits(number, _over(self))

    def synchronise(self: Any) -> None:
        true_synchronise(self)
        ordering.host_waits(_over(self))

    def query(self: Any) -> bool:
        done = bool(true_query(self))
        if done:
            ordering.host_waits(_over(self))
        return done

    for name, function in (("record", record), ("wait", wait), ("synchronize", synchronise), ("query", query)):
        patches.set(event, name, function)


def _watch_streams(recorder: Recorder, patches: Patches, stream: Any) -> None:
    ordering = recorder.ordering
    name = "__init__" if "__new__" not in vars(stream) else "__new__"
    true_make: Any = getattr(stream, name)

    def make(*args: Any, **kwargs: Any) -> Any:
        made = true_make(*args, **kwargs)
        new = made if made is not None else args[0]
        if "stream_id" not in kwargs and (raw := here()) is not None:
            recorder.streams[new.device.index, new.stream_id] = raw
        return made

    patches.set(stream, name, staticmethod(make) if name == "__new__" else lambda *a, **k: make(*a, **k))
    true_wait_event, true_synchronise, true_query = stream.wait_event, stream.synchronize, stream.query

    def wait_event(self: Any, event: Any) -> None:
        true_wait_event(self, event)
        if (number := _number(recorder, self)) is not None:
            ordering.stream_waits(number, _over(event))

    def synchronise(self: Any) -> None:
        true_synchronise(self)
        if (number := _number(recorder, self)) is not None:
            ordering.host_waits(ordering.recorded(number))

    def query(self: Any) -> bool:
        done = bool(true_query(self))
        if done and (number := _number(recorder, self)) is not None:
            ordering.host_waits(ordering.recorded(number))
        return done

    for name, function in (("wait_event", wait_event), ("synchronize", synchronise), ("query", query)):
        patches.set(stream, name, function)


def _over(event: Any) -> Known:
    """What an event stands for; nothing before it is recorded."""
    over: Known = getattr(event, "_devlint_over", {})
    return over


def current(recorder: Recorder) -> int:
    """The number of this thread's current stream of the device under test."""
    if not recorder.ordering.active:
        return DEFAULT
    number: int = torch._C._cuda_getCurrentStream(recorder.device.index)[0]
    return number


def _number(recorder: Recorder, stream: Any) -> int | None:
    """A stream by its number; None for one of another device, where nothing of the run's own is queued."""
    if stream is None:
        return current(recorder) if torch._C._cuda_getDevice() == recorder.device.index else None
    return int(stream.stream_id) if stream.device == recorder.device else None


def _current_device(recorder: Recorder) -> torch.device:
    return torch.device(recorder.device.type, torch._C._cuda_getDevice())


def _tell_other_stream(recorder: Recorder, operation: str) -> None:
    """Work of the device under test inside of a side stream of the current device, which is another one."""
    device = _current_device(recorder)
    number = torch._C._cuda_getCurrentStream(device.index)[0] if device != recorder.device else DEFAULT
    if number != DEFAULT:
        made = Seen("", str(device), (), "", spot(recorder.streams.get((device.index, number))))
        message = (
            f"side stream {number} is one of {device}: the work is on {recorder.device}, and on its default stream"
        )
        recorder.say("other-stream", next(user_frames(caller(2)), None), (made,), operation, message)


def waited(recorder: Recorder) -> None:
    """The host has waited for the current stream: a value was read, a copy that blocks is over."""
    ordering = recorder.ordering
    ordering.host_waits(ordering.recorded(current(recorder)))


def launching(recorder: Recorder, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Before an operation on the device runs: what it reads and writes must be over for its stream."""
    if not reads_values(func) or recorder.local.quiet:
        return
    stream = current(recorder)
    if stream == DEFAULT:
        _tell_other_stream(recorder, str(func))
    written = {id(value) for value in _written(func, args, kwargs)}
    for role, tensor in _tensors(func, args, kwargs):
        trace = trace_of(tensor)
        if trace is None or (recorder.machine.device_of(tensor) == CPU and not trace.queued):
            continue  # the host computes in order: of its memory a stream waits for queued copies alone
        if trace.at and not recorder.ordering.is_over_for(stream, trace.on, trace.at):
            _tell_race(recorder, func, role, tensor, trace, stream)
        if id(tensor) in written:
            trace.at, trace.on = recorder.ordering.now, stream


def _tell_race(recorder: Recorder, func: Any, role: str, tensor: Tensor, trace: Trace, stream: int) -> None:
    # Told once: nobody waited, and each further use has the same cause.
    trace.at = 0
    if phase_of(caller(2)) == "backward":
        return  # autograd's engine runs on the streams of the forward pass, and orders them itself
    made, used = (_words(number) for number in (trace.on, stream))
    message = f"{used} uses a tensor that {made} computes, and does not wait for it"
    recorder.emit("stream", [(role, tensor)], str(func), message, detail="race")


def _words(stream: int) -> str:
    return f"side stream {stream}" if stream else "the default stream"


def moved(recorder: Recorder, operation: str, source: Tensor, result: Tensor, waits: bool) -> None:
    """A copy between host and device is over when its call is, or it is queued."""
    before, after = recorder.machine.device_of(source), recorder.machine.device_of(result)
    if before == after == CPU and operation != "Tensor.pin_memory":
        read_by_host(recorder, operation, [source])  # another dtype, made on the host
    if recorder.device not in (before, after) or before == after:
        return
    stream, trace = current(recorder), trace_of(result)
    if recorder.ordering.active and stream == DEFAULT:
        _tell_other_stream(recorder, operation)
    if waits:
        waited(recorder)
    elif trace is not None:
        trace.at, trace.on, trace.queued = recorder.ordering.now, stream, after == CPU
        if trace.queued:
            recorder.ordering.queue_copy()
    if not waits and before == CPU and not recorder.machine.is_pinned(source):
        operand = seen(source, before, "self")
        message = f"the copy to {after} waits all the same: its source is in pageable memory"
        recorder.say("pageable-copy", next(user_frames(sys._getframe(1)), None), (operand,), operation, message)


def copied_in_place(recorder: Recorder, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """``host.copy_(x, non_blocking=True)``: from pinned memory or into it only, such a copy does not wait."""
    target, source = args[0], args[1]
    frame = next(user_frames(sys._getframe(1)), None)
    trace = trace_of(target)
    if trace is not None and frame is not None:
        trace.moved = (frame.f_code, frame.f_lasti)
    host = source if recorder.machine.device_of(source) == CPU else target
    waits = not asks_not_to_wait(args[1:], kwargs) or not recorder.machine.is_pinned(host)
    moved(recorder, "Tensor.copy_", source, target, waits)


def asks_not_to_wait(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """``non_blocking`` of ``to``, ``cuda`` and ``copy_``: by name, or the first truth value after the tensor."""
    given = kwargs.get("non_blocking")
    return bool(given) if given is not None else next((value for value in args[1:] if type(value) is bool), False)


def read_by_host(recorder: Recorder, reader: str, tensors: Sequence[Tensor]) -> None:
    """The host looks at memory that a copy may still be writing."""
    for tensor in tensors:
        trace = trace_of(tensor)
        if trace is None or not trace.queued or recorder.local.quiet:
            continue
        if recorder.ordering.is_over_for_host(trace.on, trace.at):
            trace.queued = False
            continue
        trace.queued = False
        message = f"`{reader}` reads on the host what a copy with non_blocking=True may not have written yet"
        recorder.emit("early-read", [("self", tensor)], reader, message)


def host_operands(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
    """The operands of an operation on the CPU whose values it reads."""
    if not reads_values(func):
        return []
    return [tensor for _, tensor in _tensors(func, args, kwargs)]


@cache
def reads_values(func: Any) -> bool:
    """Whether an operation looks at more than its operands' shapes. After the sanitizer's FACTORY_FUNCTION_REGEX."""
    name = str(func._schema.name).partition("::")[2]
    return not (func.is_view or name.startswith("new_") or name.endswith("_like"))


def _written(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[Tensor]:
    for argument, value in _named(func, args, kwargs):
        if argument.alias_info is not None and argument.alias_info.is_write:
            yield from (item for item in _items(value) if isinstance(item, Tensor))


def _tensors(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[tuple[str, Tensor]]:
    for argument, value in _named(func, args, kwargs):
        yield from ((argument.name, item) for item in _items(value) if isinstance(item, Tensor))


def _named(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    arguments = func._schema.arguments
    by_name = {argument.name: argument for argument in arguments}
    yield from zip(arguments, args, strict=False)
    yield from ((by_name[name], value) for name, value in kwargs.items() if name in by_name)


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else (value,)
