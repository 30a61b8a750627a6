"""devlint as a plugin of flake8, under the prefix ``DEV``.

flake8 selects and silences by its own options; everything else (thresholds, ``per-file-ignores``, ``src``) comes from
devlint's configuration. Files that flake8 cannot parse it reports itself and hands to no plugin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from devlint import __version__


class Plugin:
    """What flake8 makes for each file. The arguments' names tell flake8 what to pass; ``tree`` it asks of everyone."""

    name: ClassVar[str] = "devlint"
    version: ClassVar[str] = __version__

    def __init__(self, tree: Any, filename: str, lines: list[str]) -> None:
        self._filename = filename
        self._lines = lines

    def run(self) -> Iterator[tuple[int, int, str, type]]:
        """Line (from 1), column (from 0), text and origin of each finding."""
        # Imported here: flake8 loads every plugin, also for `flake8 --version`.
        from devlint.api import lint_source

        for finding in lint_source("".join(self._lines), self._filename):
            place = finding.place
            yield place.line, place.column - 1, f"{finding.code} {finding.message}", type(self)
