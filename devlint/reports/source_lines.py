"""The source behind a path in a finding, read again only for the files that have something to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from devlint.finding import Edit, Place
from devlint.source.decoding import Source, Unreadable, decode
from devlint.source.source_file import as_notebook, read_source
from devlint.source.tree import WORKING_TREE


class SourceLines:
    """Lines around places, by their path and cell in findings; empty for what cannot be read."""

    def __init__(self, cwd: Path, texts: Mapping[str, bytes]) -> None:
        self._cwd = cwd
        self._texts = texts
        self._sources: dict[str, Source | None] = {}
        self._files: dict[str, Source | None] = {}

    def of(self, place: Place) -> Sequence[str]:
        """All lines of the file, or of the notebook's cell, that a place is in."""
        source = self.source(place.path)
        notebook = as_notebook(source)
        if notebook is not None:
            return notebook.lines_of(place.cell)
        return source.lines if source is not None else ()

    def source(self, path: str) -> Source | None:
        """The Python behind a path, if it can be read."""
        if path not in self._sources:
            self._sources[path] = self._read(path, notebooks=True)
        return self._sources[path]

    def file_line(self, path: str, number: int) -> str:
        """One line of the file itself, which for a notebook is JSON; empty where there is none."""
        file = self._file(path)
        return file.lines[number - 1] if file is not None and 1 <= number <= len(file.lines) else ""

    def data(self, path: str) -> bytes | None:
        """The bytes of a file, whatever they are; None if it cannot be read."""
        try:
            return self._texts[path] if path in self._texts else WORKING_TREE.read(str(self._cwd / path))
        except (OSError, ValueError):
            return None

    def place_of(self, edit: Edit, path: str) -> Place | None:
        """The region of the file that an edit replaces; None in a notebook, or if the file is no longer what it was."""
        path = edit.path or path
        file = self._file(path)
        if edit.cell or file is None or not edit.start <= edit.end <= len(file.data):
            return None
        return Place(path, *file.position(edit.start), *file.position(edit.end))

    def _file(self, path: str) -> Source | None:
        if path not in self._files:
            self._files[path] = self._read(path, notebooks=False)
        return self._files[path]

    def _read(self, path: str, notebooks: bool) -> Source | None:
        data = self.data(path)
        try:
            return None if data is None else read_source(path, data) if notebooks else decode(data)
        except Unreadable:
            return None
