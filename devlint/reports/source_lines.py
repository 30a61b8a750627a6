"""The source behind a path in a finding, read again only for the files that have something to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from devlint.finding import Place
from devlint.source.decoding import Source, Unreadable
from devlint.source.notebook import Notebook, read_source


class SourceLines:
    """Lines around places, by their path and cell in findings; empty for what cannot be read."""

    def __init__(self, cwd: Path, texts: Mapping[str, bytes]) -> None:
        self._cwd = cwd
        self._texts = texts
        self._sources: dict[str, Source | None] = {}

    def of(self, place: Place) -> Sequence[str]:
        """All lines of the file, or of the notebook's cell, that a place is in."""
        if place.path not in self._sources:
            self._sources[place.path] = self._read(place.path)
        source = self._sources[place.path]
        if isinstance(source, Notebook):
            return source.lines_of(place.cell)
        return source.lines if source is not None else ()

    def _read(self, path: str) -> Source | None:
        try:
            data = self._texts[path] if path in self._texts else (self._cwd / path).read_bytes()
            return read_source(path, data)
        except (OSError, ValueError, Unreadable):
            return None
