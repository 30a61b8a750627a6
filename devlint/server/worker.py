"""The thread that analyses: one piece of work at a time, each of which may be dropped while it runs."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from devlint.pipeline.deep_stack import deep_stack, no_collection
from devlint.source.deadline import LOOK_SECONDS, Deadline, OutOfTime

T = TypeVar("T")

MAX_GARBAGE_OBJECTS = 500_000
"""Objects that work may leave behind before the collector runs: a server has pauses in which nobody waits for it."""


class TookTooLong(Exception):
    """The work was given up."""


@dataclass(eq=False)
class _Job:
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    result: asyncio.Future[Any]
    dropped: bool = False


_Place = tuple[int, int]
"""In the queue: what is urgent comes first, then what came first."""

_END: tuple[_Place, _Job | None] = ((-1, 0), None)


class Worker:
    """Runs what is urgent first, else in the order in which it comes. What nobody waits for any more is stopped."""

    def __init__(self, prepare: Callable[[], None]) -> None:
        """``prepare`` is done first, in the same thread: imports, which must not be stopped half-way."""
        self._prepare = prepare
        self._jobs: queue.PriorityQueue[tuple[_Place, _Job | None]] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._running: _Job | None = None
        self._busy = threading.Event()
        self._deadline = Deadline()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        self._watcher.start()

    def end(self, seconds: float) -> bool:
        """Stop what is running and the thread; whether it has ended within that time."""
        with self._lock:
            if self._running is not None:
                self._running.dropped = True
                self._deadline.call_off()
        self._jobs.put(_END)
        self._watcher.join(seconds)
        return not self._watcher.is_alive()

    async def run(self, work: Callable[[], T], urgent: bool = True) -> T:
        """The result of work. Raises what it raises, and TookTooLong. Whoever stops waiting stops the work."""
        loop = asyncio.get_running_loop()
        job = _Job(work, loop, loop.create_future())
        self._jobs.put(((int(not urgent), next(self._numbers)), job))
        try:
            found: T = await job.result
        except asyncio.CancelledError:
            self._drop(job)
            raise
        return found

    def _drop(self, job: _Job) -> None:
        job.dropped = True
        with self._lock:
            if self._running is job:
                self._deadline.want_no_more()

    def _watch(self) -> None:
        with no_collection, deep_stack(self._serve) as thread:
            while thread.is_alive():
                self._busy.wait()  # costs nothing while nothing is done
                thread.join(LOOK_SECONDS)
                self._deadline.look()

    def _serve(self) -> None:
        try:
            self._prepare()
            # What is imported stays: the collector need not go through it while somebody waits.
            gc.collect()
            gc.freeze()
            while (job := self._jobs.get()[1]) is not None:
                with self._lock:
                    self._running = job
                self._busy.set()
                self._perform(job)
                with self._lock:
                    self._running = None
                self._busy.clear()
                if gc.get_count()[0] > MAX_GARBAGE_OBJECTS:
                    gc.collect()
        finally:
            self._busy.set()

    def _perform(self, job: _Job) -> None:
        try:
            self._deadline.start()
            if job.dropped:
                raise OutOfTime
            found = job.work()
            self._deadline.stop()
        except OutOfTime:
            self._deadline.give_up()
            _settle(job, lambda: job.result.set_exception(TookTooLong()))
        except BaseException as error:  # whoever waits for it has to know
            self._deadline.give_up()
            told = error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error}")
            _settle(job, lambda: job.result.set_exception(told))
        else:
            _settle(job, lambda: job.result.set_result(found))


def _settle(job: _Job, settle: Callable[[], None]) -> None:
    def unless_dropped() -> None:
        if not job.result.done():
            settle()

    with contextlib.suppress(RuntimeError):  # the server has ended
        job.loop.call_soon_threadsafe(unless_dropped)
