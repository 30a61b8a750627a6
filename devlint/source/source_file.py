"""The Python of a file: a text, or the cells of a notebook as one text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.source.decoding import Source, decode
from devlint.source.reading import NOTEBOOK

if TYPE_CHECKING:
    from devlint.source.notebook import Notebook


def read_source(path: str, data: bytes) -> Source:
    """The Python of a file, by its name a notebook or a text. Raises :class:`Unreadable`."""
    if not path.endswith(NOTEBOOK):
        return decode(data)
    from devlint.source.notebook import read_notebook  # few runs meet one

    return read_notebook(data)


def as_notebook(source: Source | None) -> Notebook | None:
    """The source, if it is a notebook."""
    if source is None or type(source) is Source:
        return None
    from devlint.source.notebook import Notebook

    return source if isinstance(source, Notebook) else None
