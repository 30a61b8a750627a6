"""The paths of findings as a forge knows them: relative to the repository's root, with forward slashes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from devlint.finding import Place
from devlint.source.project import repository_root


def in_file(place: Place) -> Place:
    """A place as the file's own lines have it. Column 0 says that only the line is known.

    That is so in a notebook, whose cells are strings in JSON, and where a run saw the line only.
    """
    if place.cell:
        line = max(place.file_line, 1)
        return Place(place.path, line, 0, line, 0)
    if place.column < 1:
        return Place(place.path, place.line, 0, max(place.line, place.end_line), 0)
    return place


class Repository:
    """Where the paths of findings lie in their repository.

    The repository is the one around the working directory; else the one around the files, if all are in the same one;
    else the working directory stands for it.
    """

    def __init__(self, cwd: Path, shown_paths: Iterable[str] = ()) -> None:
        self._cwd = cwd
        self.root = repository_root(cwd) or self._around(shown_paths) or cwd
        self._paths: dict[str, str] = {}

    def path(self, shown: str) -> str:
        """The path of a file that a finding calls ``shown``; absolute for a file outside of the repository.

        Links are followed as far as they stay inside: a forge shows a file by its own path only.
        """
        if shown not in self._paths:
            self._paths[shown] = self._find(shown)
        return self._paths[shown]

    def _find(self, shown: str) -> str:
        absolute = os.path.normpath(self._cwd / shown)
        for path, root in ((os.path.realpath(absolute), os.path.realpath(self.root)), (absolute, str(self.root))):
            if Path(path).is_relative_to(root) and path != root:
                return Path(path).relative_to(root).as_posix()
        return Path(absolute).as_posix()

    def _around(self, shown_paths: Iterable[str]) -> Path | None:
        roots = {repository_root(Path(os.path.normpath(self._cwd / shown)).parent) for shown in shown_paths}
        return roots.pop() if len(roots) == 1 else None
