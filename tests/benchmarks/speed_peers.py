"""Type checkers beside devlint: the same files, the same processors; theirs is other work than devlint's."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from timing import Case, Command, peak_memory

_ENDS = (0, 1, 2)
"""Errors in the files are no failure; 2 is mypy's code for errors that stop it."""


def type_checkers(directory: Path, scratch: Path, jobs: int) -> list[Case]:
    """Those that are installed, from nothing and once more."""
    found: list[Case] = []
    if shutil.which("mypy"):
        cache = scratch / "mypy-cache"
        command = ["mypy", "--config-file=", "--ignore-missing-imports", "--follow-imports=silent", "--cache-dir"]
        warm = Command([*command, str(cache), "."], directory, allowed=_ENDS)
        found += [
            Case("mypy, filling its cache", warm, lambda: shutil.rmtree(cache, ignore_errors=True)),
            Case("mypy with cache", warm),
        ]
    pyright = next((name for name in ("pyright", "basedpyright") if shutil.which(name)), None)
    if pyright is not None:
        settings = scratch / "pyright.json"
        settings.write_text(f'{{"include": ["{directory}"], "typeCheckingMode": "basic"}}')
        command = [pyright, "--project", str(settings), "--threads", str(jobs)]
        found.append(Case(pyright, Command(command, directory, allowed=(*_ENDS, 3))))
    if shutil.which("pyrefly"):
        command = ["pyrefly", "check", "--summary=none", "--output-format", "omit-errors", "--threads", str(jobs)]
        found.append(Case("pyrefly", Command([*command, "."], directory, allowed=_ENDS)))
    return found


def print_peer_memory(directory: Path, scratch: Path, jobs: int) -> None:
    """The peak of each; processes of one tool are not added up."""
    for case in type_checkers(directory, scratch, jobs):
        case.prepare()
        peaks = peak_memory(case.command)
        print(f"  {case.name:28} main process {peaks.parent:5.0f} MiB, largest other {peaks.workers:5.0f} MiB")
        sys.stdout.flush()
