"""Which work is over before which: vector clocks over the streams of a device, and the host as one who waits.

Work on one stream runs in order. Work on another stream, and the host itself, is after it only where something was
waited for: an event, a stream, the device. Each piece of work has a number; who waits knows, for each stream, the
number up to which its work is over. This is the model of PyTorch's own CUDA sanitizer (torch/cuda/_sanitizer.py).
"""

from __future__ import annotations

DEFAULT = 0
"""The number of a device's default stream."""

Known = dict[int, int]
"""For each stream by number: its work up to this one is over."""


class Ordering:
    """The streams of the device under test.

    ``now`` is the number of the latest work. ``active``: a side stream has been made current. ``in_flight``: some copy
    to the host did not wait. As long as neither holds nothing can be out of order, and nobody need ask: ``watching`` is
    False.
    """

    def __init__(self) -> None:
        self.now = 0
        self.active = False
        self.in_flight = False
        self.watching = False
        self._host: Known = {}
        self._all = 0
        self._streams: dict[int, Known] = {}

    def enter_stream(self, stream: int) -> None:
        """A stream has been made current."""
        if stream != DEFAULT:
            self.active = self.watching = True

    def queue_copy(self) -> None:
        """A copy to the host is on its way."""
        self.in_flight = self.watching = True

    def recorded(self, stream: int) -> Known:
        """What is over once the work queued on a stream until now is over."""
        return _joined(_joined(self._host, self._streams.get(stream, {})), {stream: self.now})

    def stream_waits(self, stream: int, over: Known) -> None:
        """What is queued on a stream from now on begins after that."""
        self._streams[stream] = _joined(self._streams.get(stream, {}), over)

    def host_waits(self, over: Known) -> None:
        """The host goes on after that, and so does whatever it queues from now on."""
        self._host = _joined(self._host, over)

    def host_waits_for_all(self) -> None:
        """The device is synchronised."""
        self._all = self.now

    def is_over_for_host(self, stream: int, work: int) -> bool:
        return work <= max(self._all, self._host.get(stream, 0))

    def is_over_for(self, reader: int, stream: int, work: int) -> bool:
        """Whether work of one stream is over before what is queued on another one now."""
        known = self._streams.get(reader, {}).get(stream, 0)
        return reader == stream or work <= known or self.is_over_for_host(stream, work)


def _joined(one: Known, other: Known) -> Known:
    return {stream: max(one.get(stream, 0), other.get(stream, 0)) for stream in one.keys() | other.keys()}
