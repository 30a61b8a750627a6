"""What the terminal can show: colours, a width, a progress bar."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PROGRESS_AFTER_SECONDS = 1.0
_REFRESH_SECONDS = 0.1


def wants_color(choice: str, stream: TextIO | None, environment: Mapping[str, str]) -> bool:
    """Whether to colour. A flag beats the environment, ``NO_COLOR`` beats ``FORCE_COLOR``, both beat what is there."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0") or environment.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return stream is not None and stream.isatty() and environment.get("TERM") != "dumb"


def width_of(stream: TextIO | None, environment: Mapping[str, str]) -> int | None:
    """Columns to fit into: ``COLUMNS``, else the terminal's; None where there is no terminal."""
    columns = environment.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return int(columns)
    if stream is None or not stream.isatty():
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        import shutil

        return shutil.get_terminal_size().columns


def forget_stdout() -> None:
    """After its reader is gone: let the interpreter's own last flush go nowhere instead of complaining."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class ProgressBar:
    """A bar on a terminal's standard error, shown once the work has taken a second, gone when it is over."""

    def __init__(self, stream: TextIO, wanted: bool, environment: Mapping[str, str]) -> None:
        self._wanted = wanted and stream.isatty() and environment.get("TERM") != "dumb"
        self._stream = stream
        self._started = self._drawn = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def advance(self, done: int, total: int) -> None:
        now = time.monotonic()
        if not self._wanted or now - self._started < PROGRESS_AFTER_SECONDS or now - self._drawn < _REFRESH_SECONDS:
            return
        self._drawn = now
        if self._progress is None:
            self._progress = self._start(total)
            self._task = self._progress.add_task("devlint", total=total)
        if self._task is not None:
            self._progress.update(self._task, completed=done)
        self._progress.refresh()

    def _start(self, total: int) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        # Without a thread of its own: worker processes may still be forked.
        progress = Progress(*columns, console=Console(file=self._stream), transient=True, auto_refresh=False)
        progress.start()
        return progress
