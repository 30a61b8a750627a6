"""The check of a whole folder, in a process of its own: all processors at work, and the cache that the command uses.

Run as a program it prints a line of JSON for each thing that it has to say: how far it is, what it found, what is wrong
with the settings. It ends when nobody holds the other end of its standard input any longer.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from devlint.cache.rows import finding_row, read_finding
from devlint.check import Request, check
from devlint.configuration.complaint import Complaint
from devlint.finding import Finding

_PROGRAM = "import sys; sys.path.append({root!r}); from devlint.server.folder_check import main; main(sys.argv[1])"

_TELL_SECONDS = 0.1


@dataclass(frozen=True)
class Progress:
    done: int
    total: int


@dataclass(frozen=True)
class Found:
    """All findings of the folder. Their paths are absolute."""

    findings: tuple[Finding, ...]


class CheckFailed(Exception):
    """The folder was not checked: the message says why."""


async def checked(folder: str) -> AsyncGenerator[Progress | Found, None]:
    """Check a folder; what was found comes last. Whoever ends the iteration ends the process. Raises CheckFailed."""
    program = _PROGRAM.format(root=os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    # No subprocess of asyncio's: cancelled while it starts, it waits for pipes that its own processes hold.
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", program, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    lines = asyncio.Queue[bytes]()
    threading.Thread(target=_read, args=(process, asyncio.get_running_loop(), lines), daemon=True).start()
    found: Found | None = None
    try:
        while line := await lines.get():
            kind, *told = json.loads(line)
            if kind == "progress":
                yield Progress(*told)
            elif kind == "complaint":
                raise CheckFailed(told[0])
            else:
                found = Found(tuple(map(read_finding, told[0])))
        if found is None:
            raise CheckFailed(f"the process that checked {folder} has died")
        yield found
    finally:
        process.kill()


def _read(process: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[bytes]) -> None:
    """Hand on each line that a process writes, and an empty one at the end."""
    assert process.stdout is not None
    with contextlib.suppress(RuntimeError), process:  # the loop has ended
        for line in process.stdout:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, b"")


def main(folder: str) -> None:
    """The program: check a folder and tell standard output."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anybody prints is no answer
    server = os.dup(sys.stdin.fileno())
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), sys.stdin.fileno())
    threading.Thread(target=_end_with_the_server, args=(server,), daemon=True).start()

    def tell(*what: Any) -> None:
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    last = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal last
        if (now := time.monotonic()) - last > _TELL_SECONDS:
            last = now
            tell("progress", done, total)

    try:
        result = check(Request(paths=(folder,), cwd=Path(folder), cached=True), progress)
    except Complaint as error:
        tell("complaint", str(error))
    else:
        tell("found", [finding_row(_absolute(finding, folder)) for finding in result.findings])


def _absolute(finding: Finding, folder: str) -> Finding:
    place = replace(finding.place, path=os.path.normpath(os.path.join(folder, finding.place.path)))
    return replace(finding, place=place)


def _end_with_the_server(server: int) -> None:
    """``server`` is read by its number: forked processes close ``sys.stdin``, and that would wait for its reader."""
    with contextlib.suppress(OSError):
        while os.read(server, 1):
            pass
    os._exit(1)
