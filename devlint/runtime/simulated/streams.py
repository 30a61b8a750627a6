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
    """`torch.cuda.Stream` and `torch.Stream`. Work is done in program order, so waiting is over at once."""

    machine: Machine

    def __init__(self, device: Any = None, priority: int = 0, *, stream_id: int | None = None, **other: Any) -> None:
        index = other.get("device_index")
        machine = self.machine
        self.device = machine.resolve("cuda" if device is None else device) if index is None else machine.device(index)
        self.stream_id = next(_ids) if stream_id is None else stream_id
        self.priority = priority
        self.device_index = self.device.index
        self.device_type = 1
        self._before: list[Stream] = []

    @property
    def cuda_stream(self) -> int:
        return self.stream_id

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
        recorded: Any = event or torch.cuda.Event()  # type: ignore[no-untyped-call]
        recorded.record(self)
        return recorded

    def __enter__(self) -> Stream:
        self._before.append(current(self.machine, self.device.index))
        torch._C._cuda_setStream(self.stream_id, self.device.index, self.device_type)
        return self

    def __exit__(self, *exc: object) -> None:
        torch._C._cuda_setStream(self._before.pop().stream_id, self.device.index, self.device_type)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.device, self.stream_id) == (other.device, other.stream_id)

    def __hash__(self) -> int:
        return hash((self.device, self.stream_id))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.stream_id:#x}>"


class Event:
    """`torch.cuda.Event`: records the host's clock, since the host does the work."""

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
    stream = type("Stream", (Stream,), {"machine": machine, "__module__": "torch.cuda"})
    event = type("Event", (Event,), {"__module__": "torch.cuda"})
    machine.stream_class = stream
    for owner in (torch.cuda, torch.cuda.streams):
        patches.set(owner, "Stream", stream)
        patches.set(owner, "Event", event)
    for name, made in (("Stream", stream), ("Event", event)):
        if hasattr(torch, name):
            patches.set(torch, name, made)
