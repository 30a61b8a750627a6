"""The time that one file may take: a thread that analyses is watched by another, which needs no help of it.

Counted is the processor time of the thread, so that a busy machine changes no result. An exception is put into the
thread; it arrives between two instructions of Python. Native code is bounded elsewhere (:mod:`devlint.source.gate`),
and a process of its own is ended by the system a little later (:func:`end_process_after`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

SECONDS = 10.0
"""Of processor time, for one file with all that is asked of others."""

GRACE_SECONDS = 5.0
"""What a process gets beyond that to come to an end by itself."""

STALLED_SECONDS = 300.0
"""On the clock: a process that says nothing for so long waits for something that does not come."""

LOOK_SECONDS = 0.2

PATIENCE_SECONDS = 2.0
"""Of processor time: what an analysis that nobody wants any more gets to come to a checkpoint."""


class OutOfTime(BaseException):
    """Raised inside of an analysis that has taken too long."""


class Unwanted(OutOfTime):
    """Raised at a checkpoint of an analysis that nobody wants any more: what it has learnt of other files is whole."""


class _Watched(threading.local):
    deadline: Deadline | None = None


_watched = _Watched()


def checkpoint() -> None:
    """A place where the analysis of this thread can be stopped and loses nothing. Raises Unwanted."""
    deadline = _watched.deadline
    if deadline is not None and deadline.is_unwanted:
        raise Unwanted


def too_long(seconds: float = SECONDS) -> str:
    """The end of a sentence about a file."""
    return f"it takes more than {seconds:g} s of processor time"


class Deadline:
    """Held by the thread that analyses and by the one that watches it."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._lock = threading.Lock()
        self._thread = 0
        self._clock: Callable[[], float] = time.monotonic
        self._due: float | None = None
        self._called = False
        self.is_unwanted = False

    def start(self) -> None:
        """The thread that calls begins with a file."""
        self._thread = threading.get_ident()
        self._clock = _clock_of(self._thread)
        _watched.deadline = self
        with self._lock:
            self._called = self.is_unwanted = False
            self._due = self._clock() + self.seconds

    def stop(self) -> None:
        """It has ended it. Raises OutOfTime if the call to stop is still on its way."""
        with self._lock:
            self._due = None
            called = self._called
            self.is_unwanted = False
        if called:
            time.sleep(0.05)  # where the call arrives, if nothing has swallowed it

    def give_up(self) -> None:
        """The call to stop has arrived; a second one comes to nothing."""
        try:
            self.stop()
        except OutOfTime:
            self.stop()

    def call_off(self) -> None:
        """Stop the thread now: nobody wants to know any more. Called by another thread."""
        with self._lock:
            if self._due is None:
                return
            self._due = self._clock()
        self.look()

    def want_no_more(self) -> None:
        """Stop the thread at its next checkpoint, or before long. Called by another thread."""
        with self._lock:
            if self._due is not None:
                self.is_unwanted = True
                self._due = min(self._due, self._clock() + PATIENCE_SECONDS)

    def look(self) -> None:
        """Stop the thread if its time is over. Called by another thread, now and then."""
        with self._lock:
            if self._due is None or self._clock() < self._due:
                return
            self._called = True
            self._due += 5  # should the call be swallowed (in a finalizer, say), there is another
            import ctypes

            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(OutOfTime))


def _clock_of(thread: int) -> Callable[[], float]:
    """The processor time of a thread, where the system tells it to others; else the clock."""
    try:
        clock = time.pthread_getcpuclockid(thread)
        time.clock_gettime(clock)
    except (AttributeError, OSError):
        return time.monotonic
    return lambda: time.clock_gettime(clock)


def end_process_after(seconds: float) -> None:
    """Have the system end this process, whatever it does, once it has used so much processor time from now."""
    import signal

    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
