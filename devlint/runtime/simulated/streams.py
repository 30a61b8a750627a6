"""Streams and events of a simulated device: everything has happened by the time it is asked about."""

from __future__ import annotations

import time
from itertools import count
from typing import Any

import torch

from devlint.runtime.patching import Patches
from devlint.runtime.simulated.errors import NotSimulated
from devlint.runtime.simulated.machine import Machine

_ids = count(1)


class Stream:
    """`torch.cuda.Stream` and its like. Work is done in program order, so waiting is over at once."""

    machine: Machine

    def __init__(self, device: Any = None, priority: int = 0, *, stream_id: int | None = None, **other: Any) -> None:
        index = other.get("device_index")
        machine = self.machine
        named = machine.type if device is None else device
        self.device = machine.resolve(named) if index is None else machine.device(index)
        self.stream_id = next(_ids) if stream_id is None else stream_id
        self.priority = priority
        self.device_index = self.device.index
        self.device_type = machine.kind.number
        self._before: list[Stream] = []

    @property
    def cuda_stream(self) -> int:
        return self.stream_id

    sycl_queue = cuda_stream

    def wait_event(self, event: Event) -> None:
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        self.wait_event(stream.record_event())

    def synchronize(self) -> None: ...

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def record_event(self, event: Event | None = None) -> Any:
        recorded: Any = event or self.machine.event_class()
        recorded.record(self)
        return recorded

    def __enter__(self) -> Stream:
        self._before.append(current(self.machine, self.device.index))
        self._make_current(self)
        return self

    def __exit__(self, *exc: object) -> None:
        self._make_current(self._before.pop())

    def _make_current(self, stream: Stream) -> None:
        """By the C function, which a recorder may have replaced to see it."""
        set_stream = getattr(torch._C, f"_{self.machine.type}_setStream", None)
        if set_stream is None:
            self.machine.local.streams[self.device.index] = stream
        else:
            set_stream(stream.stream_id, self.device.index, self.device_type)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.device, self.stream_id) == (other.device, other.stream_id)

    def __hash__(self) -> int:
        return hash((self.device, self.stream_id))

    def __repr__(self) -> str:
        queue = "sycl_queue" if self.device.type == "xpu" else f"{self.device.type}_stream"
        return f"<torch.{self.device.type}.Stream device={self.device} {queue}={self.stream_id:#x}>"


class Event:
    """`torch.cuda.Event` and its like: records the host's clock, since the host does the work."""

    def __init__(self, device: Any = None, enable_timing: bool = False, **options: Any) -> None:
        self.enable_timing = enable_timing
        self._at: float | None = None
        self.device = device

    def record(self, stream: Stream | None = None) -> None:
        self._at = time.perf_counter()

    def wait(self, stream: Stream | None = None) -> None: ...

    def query(self) -> bool:
        return True

    def synchronize(self) -> None: ...

    def ipc_handle(self) -> Any:
        raise NotSimulated("sharing a CUDA event with another process")

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: Any) -> Any:
        raise NotSimulated("sharing a CUDA event with another process")

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds between two records."""
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._at is None or end_event._at is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._at - self._at) * 1000


def current(machine: Machine, index: int) -> Stream:
    """The thread's current stream of one device; the default stream has the id 0."""
    streams = machine.local.streams
    if index not in streams:
        streams[index] = machine.stream_class(machine.device(index), stream_id=0)
    found: Stream = streams[index]
    return found


def install(machine: Machine, patches: Patches) -> None:
    module = getattr(torch, machine.type)
    stream = type("Stream", (Stream,), {"machine": machine, "__module__": module.__name__})
    event = type("Event", (Event,), {"__module__": module.__name__})
    machine.stream_class, machine.event_class = stream, event
    owners = (torch, module, getattr(module, "streams", None), getattr(module, "event", None))
    for owner in filter(None, owners):
        for name, made in (("Stream", stream), ("Event", event)):
            if hasattr(owner, name):
                patches.set(owner, name, made)
