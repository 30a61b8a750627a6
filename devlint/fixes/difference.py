"""What fixes change, as a unified diff."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from devlint.source.decoding import Unreadable
from devlint.source.notebook import Notebook
from devlint.source.source_file import read_source

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def unified(path: str, shown_as: str, before: bytes, after: bytes) -> Iterator[str]:
    """The lines of a diff, each with its line end; of a notebook one diff a cell. Nothing for equal bytes."""
    for name, old, new in _texts(path, shown_as, before, after):
        for line in difflib.unified_diff(_LINE.findall(old), _LINE.findall(new), name, name):
            yield line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n"


def _texts(path: str, shown_as: str, before: bytes, after: bytes) -> Iterator[tuple[str, str, str]]:
    try:
        old, new = read_source(path, before), read_source(path, after)
    except Unreadable:
        return
    if not isinstance(old, Notebook) or not isinstance(new, Notebook):
        yield shown_as, old.text, new.text
        return
    sources = {cell.number: cell.source for cell in new.cells}
    for cell in old.cells:
        yield f"{shown_as}:cell {cell.number}", cell.source, sources.get(cell.number, "")
