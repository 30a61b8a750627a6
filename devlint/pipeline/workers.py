"""Files spread over processes. A process that dies takes one file with it, never the run."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, cast

from devlint.pipeline.deep_stack import deep_stack, no_collection
from devlint.pipeline.failures import failed
from devlint.pipeline.file_report import analyse_file
from devlint.pipeline.postponed import Postponed
from devlint.pipeline.task import FileReport, FileTask
from devlint.source.deadline import (
    GRACE_SECONDS,
    LOOK_SECONDS,
    SECONDS,
    STALLED_SECONDS,
    Deadline,
    OutOfTime,
    end_process_after,
    too_long,
)
from devlint.source.tree import Tree, WorkingTree
from devlint.source.words_of_torch import bytes_may_hold_findings

if TYPE_CHECKING:
    import queue
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext, SpawnContext
    from multiprocessing.process import BaseProcess

SMALL_RUN_BYTES = 60_000
"""Up to this much source, starting processes costs more than it saves."""


BATCH_FILES = 12
"""Files that are handed to a process at once: a message costs as much as the analysis of some small ones."""

BATCH_BYTES = 16_000
"""Bytes of source that are handed to a process at once, so that none is left with much when the others are done."""

SHARES = 8
"""Files of one directory go to one process, which then reads once what they import: up to so small a share of what is
left for each process, so that all of them end together."""

_SAMPLED_FILES = 32
"""Files among which one that names torch makes it worth while to import what analyses it before processes start."""

MAX_GARBAGE_OBJECTS = 5_000_000
"""Objects that files may leave behind before the collector runs. Nearly all are trees that are kept: no cycle is known
that outlives its file, and to look through all that is kept takes a second."""


def run(
    tasks: list[FileTask], jobs: int, tree: Tree | None = None, seconds: float = SECONDS
) -> Generator[FileReport, None, None]:
    """Analyse every file of a tree, by default the working tree; the reports come as they are ready.

    A file that takes more than ``seconds`` of processor time is given up.
    """
    tree = tree or WorkingTree()  # a new one: what was parsed in an earlier run may have changed since
    ordered, size = _in_order(tasks)
    ordered = _without_shared_last(ordered)
    jobs = min(jobs, len(tasks))
    if jobs <= 1 or size <= SMALL_RUN_BYTES:
        yield from _run_here(ordered, tree, seconds)
    else:
        yield from _Pool(ordered, jobs, tree, seconds).reports()


def _in_order(tasks: list[FileTask]) -> tuple[list[FileTask], int]:
    """The files directory by directory, and how many bytes they have.

    Files of one directory import each other, and the same ones of others: what is known of these serves them while it
    is kept. The largest directories come first, and in each the largest files, so that no process is left with much
    when the others are done.
    """
    sizes = [_size(task) for task in tasks]
    directories: dict[str, list[int]] = {}
    for index, task in enumerate(tasks):
        directories.setdefault(os.path.dirname(task.path), []).append(index)
    groups = [(sum(sizes[index] for index in group), group) for group in directories.values()]
    groups.sort(key=lambda one: one[0], reverse=True)
    ordered = [index for _, group in groups for index in sorted(group, key=lambda index: -sizes[index])]
    return [tasks[index] for index in ordered], sum(sizes)


def _without_shared_last(tasks: list[FileTask]) -> list[FileTask]:
    """The files that are read in a workspace of their own last, also those of which that will only be found out."""
    if len(tasks) < 2:
        return tasks
    shared = [replace(task, may_wait=True) for task in tasks if not task.leads_back]
    return [*shared, *(task for task in tasks if task.leads_back)]


def _at_last(task: FileTask) -> FileTask:
    return replace(task, may_wait=False, leads_back=True)


def _run_here(tasks: list[FileTask], tree: Tree, seconds: float) -> Iterator[FileReport]:
    import queue

    reports: queue.SimpleQueue[FileReport | None] = queue.SimpleQueue()
    stop = threading.Event()
    deadline = Deadline(seconds)

    def work() -> None:
        try:
            waiting = deque(tasks)
            while waiting and not stop.is_set():
                task = waiting.popleft()
                report = _analysed(task, tree, deadline)
                if report is None:
                    waiting.append(_at_last(task))
                else:
                    reports.put(report)
                _collect_garbage()
        finally:
            reports.put(None)

    try:
        with no_collection, deep_stack(work):
            while (report := _next(reports, deadline)) is not None:
                yield report
    finally:
        stop.set()


def _analysed(task: FileTask, tree: Tree, deadline: Deadline) -> FileReport | None:
    """None for a file that has to wait."""
    if _names_torch(task):
        import_analysis()  # what is half imported when time is over stays so
    deadline.start()
    report: FileReport | None = None
    try:
        with contextlib.suppress(Postponed):
            report = analyse_file(task, tree)
        deadline.stop()
    except OutOfTime:
        deadline.give_up()
        return failed(task, too_long(deadline.seconds))
    return report


def _next(reports: queue.SimpleQueue[FileReport | None], deadline: Deadline) -> FileReport | None:
    from queue import Empty

    while True:
        try:
            return reports.get(timeout=LOOK_SECONDS)  # with a time-out an interrupt gets through on every system
        except Empty:
            deadline.look()


class _Pool:
    """Processes that analyse files one after the other and report on each, so that a dead one tells which killed it.

    Large files are handed out one by one, small ones by the dozen: a message costs as much as looking at some of them.
    """

    def __init__(self, tasks: list[FileTask], jobs: int, tree: Tree, seconds: float) -> None:
        self._tree = tree
        self._seconds = seconds
        self._heard: dict[Connection, float] = {}
        """When each process last said something, by the clock."""
        self._stalled: set[Connection] = set()
        self._waiting = list(reversed(tasks))
        self._left = sum(map(_size, tasks))
        """How many bytes are not handed out yet, or little more."""
        self._jobs = jobs
        self._context = _context()
        self._busy: dict[Connection, tuple[BaseProcess, deque[FileTask]]] = {}

    def reports(self) -> Iterator[FileReport]:
        from multiprocessing.connection import wait

        if self._context.get_start_method() == "fork" and any(map(_names_torch, self._waiting[-_SAMPLED_FILES:])):
            import_analysis()  # once for all of them
        try:
            for _ in range(self._jobs):
                self._start()
            while self._busy:
                for connection in wait(list(self._busy), STALLED_SECONDS / 10):
                    if (report := self._receive(cast("Connection", connection))) is not None:
                        yield report
                self._end_stalled()
        finally:
            self._stop()

    def _start(self) -> None:
        if not self._waiting:
            return
        ours, theirs = self._context.Pipe()
        # A forked process inherits our ends of all pipes. It closes them, or no other would learn that we are gone.
        inherited = [ours, *self._busy] if self._context.get_start_method() == "fork" else []
        arguments = (theirs, inherited, self._tree, self._seconds)
        process = self._context.Process(target=_serve, args=arguments, daemon=True)
        with _signals_wait():
            process.start()
        theirs.close()
        self._give(ours, process)

    def _give(self, connection: Connection, process: BaseProcess) -> None:
        """Hand the next files to a process, or let it end."""
        if not self._waiting:
            connection.close()
            process.join(1)
            return
        batch = deque([self._waiting.pop()])
        directory, size = os.path.dirname(batch[0].path), _size(batch[0])
        share = self._left // (self._jobs * SHARES)
        while self._waiting:
            size += _size(self._waiting[-1])
            together = size <= share and os.path.dirname(self._waiting[-1].path) == directory
            if not together and (len(batch) >= BATCH_FILES or size > BATCH_BYTES):
                break
            batch.append(self._waiting.pop())
        self._left -= sum(map(_size, batch))
        self._busy[connection] = (process, batch)
        self._heard[connection] = time.monotonic()
        # It may have died while idle: then its end of the pipe says so, and the first file is reported.
        with contextlib.suppress(OSError):
            connection.send(list(batch))

    def _receive(self, connection: Connection) -> FileReport | None:
        """The next report of a process; None for a file that has to wait."""
        process, batch = self._busy[connection]
        task = batch.popleft()
        try:
            report: FileReport | None = connection.recv()
        except (EOFError, OSError):
            process.join(5)
            connection.close()
            del self._busy[connection]
            self._waiting += reversed(batch)
            self._start()
            return failed(task, self._why(connection, process.exitcode))
        self._heard[connection] = time.monotonic()
        if report is None:
            self._waiting.insert(0, _at_last(task))  # the next to hand out stands at the end
        if not batch:
            del self._busy[connection]
            self._give(connection, process)
        return report

    def _why(self, connection: Connection, exitcode: int | None) -> str:
        import signal

        if connection in self._stalled:
            return f"nothing was heard of its analysis for {STALLED_SECONDS:g} s"
        if exitcode is not None and exitcode == -getattr(signal, "SIGPROF", 0):
            return too_long(self._seconds)
        return f"the process that analysed it died ({_how(exitcode)})"

    def _end_stalled(self) -> None:
        for connection, (process, _) in self._busy.items():
            if time.monotonic() - self._heard[connection] > STALLED_SECONDS:
                self._stalled.add(connection)
                process.kill()

    def _stop(self) -> None:
        for connection, (process, _) in self._busy.items():
            process.terminate()
            connection.close()


@contextlib.contextmanager
def _signals_wait() -> Iterator[None]:
    """Hold interrupts back while a process starts, which inherits that: it answers none before it knows how."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, inherited: list[Connection], tree: Tree, seconds: float) -> None:
    """A worker's life: receive files, send back a report on each, until the other end closes or its process is gone."""
    import signal
    from multiprocessing.connection import Pipe, wait
    from multiprocessing.process import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process answers an interrupt for all
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    for other in inherited:
        other.close()
    gc.freeze()
    gc.disable()
    deadline = Deadline(seconds)
    ended, end = Pipe(duplex=False)

    def work() -> None:
        try:
            while True:
                batch: list[FileTask] = connection.recv()
                for task in batch:
                    end_process_after(seconds + GRACE_SECONDS)
                    connection.send(_analysed(task, tree, deadline))
                    _collect_garbage()
        except (EOFError, OSError):
            return  # nobody is there any more
        finally:
            end.close()

    parent = parent_process()
    gone = [parent.sentinel] if parent is not None else []
    with deep_stack(work):
        while ended not in (happened := wait([ended, *gone], LOOK_SECONDS)):
            if happened:
                os._exit(1)  # whoever wanted to know is dead
            deadline.look()


def _names_torch(task: FileTask) -> bool:
    try:
        return bytes_may_hold_findings(task.data if task.data is not None else WorkingTree().read(task.path))
    except OSError:
        return False


@cache
def import_analysis() -> None:
    """What an analysis imports when it begins."""
    import devlint.placement.project.workspace
    import devlint.rules.engine  # noqa: F401
    from devlint.rules.registry import rule_classes

    rule_classes()


def _collect_garbage() -> None:
    """Collect between files, and only when one left much behind: trees are dropped by their reference counts."""
    if gc.get_count()[0] > MAX_GARBAGE_OBJECTS:
        gc.collect()


def _context() -> ForkContext | SpawnContext:
    """Forked where that is safe and cheap; a fresh interpreter elsewhere."""
    import multiprocessing

    if "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin":
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


def _how(exitcode: int | None) -> str:
    import signal

    if exitcode is not None and exitcode < 0:
        try:
            return signal.Signals(-exitcode).name
        except ValueError:
            return f"signal {-exitcode}"
    return f"exit code {exitcode}"


def _size(task: FileTask) -> int:
    if task.data is not None:
        return len(task.data)
    try:
        return os.stat(task.path).st_size
    except OSError:
        return 0
