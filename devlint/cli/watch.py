"""``--watch``: check, wait until something changes, check again, until interrupted.

Each check is a process of its own: what one has read and remembered of the project cannot be out of date in the next.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import click

from devlint.check import Request, plan
from devlint.configuration.config import Configuration
from devlint.configuration.configfile import ConfigurationError
from devlint.source.discovery import USUAL_EXCLUDES, discover
from devlint.source.project import project_root

_PAUSE_SECONDS = (0.3, 2.0)
_SHARE_OF_TIME = 10
"""Between the two pauses, looking for changes takes about a tenth of one processor, however many files there are."""

_CHECK_ONCE = "import sys; sys.path.append({root!r}); from devlint.cli.main import main; main()"


def watch(request: Callable[[], Request], arguments: list[str]) -> None:
    """Run ``devlint`` with ``arguments`` now and whenever a file or setting of the request changes.

    ``request`` is asked again each time, since a configuration file may have changed. Ends by KeyboardInterrupt.
    """
    while True:
        seen = _state(request)
        click.clear()
        _check(arguments)
        click.echo("devlint: watching for changes; Ctrl-C ends it", err=True)
        _wait_for_change(request, seen)


def _check(arguments: list[str]) -> None:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    program = _CHECK_ONCE.format(root=os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
    command = [sys.executable, "-P", "-c", program, *arguments[:end], "--no-watch", *arguments[end:]]
    with subprocess.Popen(command) as process:
        try:
            process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            raise


def _wait_for_change(request: Callable[[], Request], seen: object) -> None:
    while True:
        started = time.monotonic()
        state = _state(request)
        if state != seen:
            return
        shortest, longest = _PAUSE_SECONDS
        time.sleep(min(max(shortest, (time.monotonic() - started) * _SHARE_OF_TIME), longest))


class _EverythingUsual:
    """What of a project may matter to its files, reported on or not."""

    force_exclude = False
    respect_gitignore = True

    def for_directory(self, directory: str) -> _EverythingUsual:
        return self

    def excludes(self, path: str, is_directory: bool) -> bool:
        return is_directory and os.path.basename(path) in USUAL_EXCLUDES


def _state(request: Callable[[], Request]) -> object:
    """Something that differs when another check could come to another result."""
    try:
        asked = request()
        planned = plan(asked)
        origin = Configuration(asked.overrides, asked.cwd).for_directory(str(asked.cwd)).origin
    except (ConfigurationError, click.ClickException) as error:
        return str(error)
    root = project_root(asked.cwd)
    around = discover([str(root)], _EverythingUsual(), asked.cwd).files if root is not None else []
    files = sorted({*around, *(task.path for task in planned.tasks), *map(str, origin)})
    return planned.tasks, planned.found.missing, [(file, *_stamp(file)) for file in files]


def _stamp(file: str) -> tuple[int, ...]:
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return (found.st_mtime_ns, found.st_size, found.st_ino)
