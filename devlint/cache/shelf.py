"""The part of the cache that holds programs: one file for each, addressed by the content of the file it was read from.

Each process that analyses reads and writes it by itself, whole files at a time.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devlint.cache.place import write
from devlint.cache.reading import parsed, read_sealed, sealed

MOST_PROGRAMS = 20_000
"""Files of a shelf; beyond, the quarter that was written longest ago is removed."""


@dataclass(frozen=True, slots=True)
class ProgramShelf:
    """A :class:`devlint.source.kept_programs.Shelf` on disk."""

    directory: Path

    def get(self, digest: str) -> Any:
        """What was put there; None where there is nothing, or something that nobody has put there."""
        with contextlib.suppress(OSError, ValueError):
            (line,) = read_sealed(self._path(digest))
            return parsed(line)
        return None

    def put(self, digest: str, make: Callable[[], str | None]) -> None:
        """Keep what is made, if it is not there and can be written."""
        path = self._path(digest)
        if path.exists():
            return
        program = make()
        if program is not None:
            with contextlib.suppress(OSError):
                self.directory.mkdir(exist_ok=True)
                write(path, sealed(program.encode()))

    def trim(self) -> None:
        """Remove the oldest, where there are too many."""
        with contextlib.suppress(OSError):
            names = os.listdir(self.directory)
            if len(names) > MOST_PROGRAMS:
                paths = sorted((path.stat().st_mtime, path) for name in names if (path := self.directory / name))
                for _, path in paths[: len(paths) // 4]:
                    path.unlink(missing_ok=True)

    def _path(self, digest: str) -> Path:
        return self.directory / f"{digest}.json"
