"""The source behind a path in a finding, read again only for the files that have something to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from devlint.source.decoding import Unreadable, decode


class SourceLines:
    """Lines of files by their path in findings; empty for what cannot be read."""

    def __init__(self, cwd: Path, texts: Mapping[str, bytes]) -> None:
        self._cwd = cwd
        self._texts = texts
        self._lines: dict[str, Sequence[str]] = {}

    def of(self, path: str) -> Sequence[str]:
        if path not in self._lines:
            self._lines[path] = self._read(path)
        return self._lines[path]

    def _read(self, path: str) -> Sequence[str]:
        try:
            data = self._texts[path] if path in self._texts else (self._cwd / path).read_bytes()
            return decode(data).lines
        except (OSError, ValueError, Unreadable):
            return ()
