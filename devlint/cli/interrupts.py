"""Ctrl-C and SIGTERM: an exception while there is work to leave in order, the end of the process before and after."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM

_SECONDS_UNTIL_SENT_AGAIN = 0.02
"""Long enough for what swallowed an exception to have ended."""


class Terminated(KeyboardInterrupt):
    """Somebody asks the program to end (SIGTERM): it does so as for Ctrl-C, and leaves nothing half done."""


def code_of(interrupt: KeyboardInterrupt) -> int:
    """The exit code of a program that an interrupt ended."""
    return TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED


def ended_by_signals(work: Callable[[], int]) -> int:
    """The code that some work comes to, or that of the signal that ended it."""
    sys.unraisablehook = _send_again
    try:
        signal.signal(signal.SIGTERM, _terminate)
        _on_interrupt(signal.default_int_handler)
        code = work()
    except KeyboardInterrupt as interrupt:
        code = code_of(interrupt)
    # It is over, and what came of it is told: Python's own end takes some milliseconds more.
    _on_interrupt(lambda number, frame: os._exit(code))
    signal.signal(signal.SIGTERM, lambda number, frame: os._exit(code))
    return code


def _on_interrupt(handler: Callable[[int, FrameType | None], object]) -> None:
    """An interrupt that is ignored, as in a shell's background job, stays so."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)


def _terminate(number: int, frame: object) -> NoReturn:
    raise Terminated


def _send_again(unraisable: UnraisableHookArgs) -> None:
    """Python tells of an exception that nobody can catch (in ``__del__``, in a weak reference's callback) and goes on.

    An interrupt that was lost in this way is sent once more.
    """
    interrupt = unraisable.exc_value
    if not isinstance(interrupt, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    import threading

    number = code_of(interrupt) - 128
    threading.Timer(_SECONDS_UNTIL_SENT_AGAIN, os.kill, (os.getpid(), number)).start()
