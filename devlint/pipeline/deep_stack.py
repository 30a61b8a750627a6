"""Threads whose stack holds the recursion that long expressions need.

Python's limit of recursion, the size of new stacks and the collector are one for all threads of a process: what is
changed for one run is put back when the last of them has ended, whatever their order.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Callable, Iterator

STACK_BYTES = 512 * 1024 * 1024
"""Address space for the stack of the thread that analyses; memory is only used as deep as the code goes."""

RECURSION_LIMIT = 200_000


class _Shared:
    """A setting of the process that is changed while anybody needs it."""

    def __init__(self, change: Callable[[], Callable[[], None]]) -> None:
        """``change`` makes the change and returns what undoes it."""
        self._lock = threading.Lock()
        self._change = change
        self._undo: Callable[[], None] = lambda: None
        self._users = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                self._undo = self._change()
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._undo()


def _raise_limit() -> Callable[[], None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION_LIMIT))
    return lambda: sys.setrecursionlimit(before)


def _stop_collecting() -> Callable[[], None]:
    was_enabled = gc.isenabled()
    gc.disable()
    return _collect_again if was_enabled else lambda: None


def _collect_again() -> None:
    """Collect from now on. What was made meanwhile counts as old.

    Most of it stays. As young as it is, all of it would be looked through at once: a twentieth of a short run.
    """
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
    gc.enable()


_deep_recursion = _Shared(_raise_limit)
no_collection = _Shared(_stop_collecting)
"""While it is entered, the collector of garbage runs only when it is called."""

_starting = threading.Lock()


@contextlib.contextmanager
def deep_stack(work: Callable[[], None]) -> Iterator[threading.Thread]:
    """Run ``work`` in a thread with a deep stack; its exceptions come out."""
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    with _deep_recursion:
        yield _started(guarded)
    if failures:
        raise failures[0]


def _started(work: Callable[[], None]) -> threading.Thread:
    """A running thread with the deepest stack that the system grants."""
    size = STACK_BYTES
    while True:
        with _starting:
            previous = threading.stack_size(size)
            try:
                thread = threading.Thread(target=work, daemon=True)
                thread.start()
                return thread
            except RuntimeError:
                if size <= 1024 * 1024:
                    raise
                size //= 2
            finally:
                threading.stack_size(previous)
