"""The documents that are open in the editor."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pygls.uris import from_fs_path, to_fs_path, uri_scheme

from devlint.source.decoding import encoded
from devlint.source.reading import NOTEBOOK

ENDINGS = (".py", ".pyi")


@dataclass(frozen=True)
class CellText:
    """One cell of an open notebook."""

    uri: str
    text: str
    is_python: bool


@dataclass(frozen=True)
class Buffer:
    """The text of one document at one time."""

    uri: str
    path: str
    """Absolute and normalised; one that does not exist, for a document that was never saved."""
    version: int | None
    text: str
    root: Path
    """The folder of the editor that it is in: what paths in messages are relative to."""
    cells: tuple[CellText, ...] = ()
    """All cells of a notebook, whose ``text`` is the file that they would be."""

    @property
    def uris(self) -> tuple[str, ...]:
        """The documents that the editor shows it in."""
        return tuple(cell.uri for cell in self.cells if cell.is_python) if self.is_notebook else (self.uri,)

    @property
    def is_notebook(self) -> bool:
        return self.path.endswith(NOTEBOOK)

    @cached_property
    def data(self) -> bytes:
        """The bytes that a file of this text would have."""
        return encoded(self.text)


def is_python(uri: str, language: str | None) -> bool:
    """Whether a document is Python in a file, or in one that was never saved: a notebook's cell is no program."""
    scheme = uri_scheme(uri)
    if scheme == "untitled":
        return language == "python"
    path = path_of(uri) or ""
    return scheme == "file" and not path.endswith(NOTEBOOK) and (language == "python" or path.endswith(ENDINGS))


def path_of(uri: str) -> str | None:
    """The absolute path that a URI names; None if it names no file."""
    path = to_fs_path(uri)
    return os.path.normpath(path) if path else None


def uri_of(path: str) -> str:
    """The URI of an absolute path."""
    return str(from_fs_path(path))
