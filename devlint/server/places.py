"""Where devlint's places are for the editor: in the document itself, or in the cells of a notebook."""

from __future__ import annotations

from functools import cache

from lsprotocol import types

from devlint.finding import Place
from devlint.server.buffers import Buffer
from devlint.server.positions import Positions


class Places:
    """The places of one document. ``encoding``: ``utf-8``, ``utf-16`` or ``utf-32``, what its columns count."""

    def __init__(self, buffer: Buffer, encoding: str) -> None:
        self._buffer = buffer
        self._encoding = encoding
        self.of_cell = cache(self._of_cell)

    def uri(self, cell: int) -> str:
        """The document of a cell by its number; of 0, the first one."""
        cells = self._buffer.cells
        return cells[max(cell, 1) - 1].uri if cells else self._buffer.uri

    def cell(self, uri: str) -> int:
        """The number of the cell that a document is; 0 for one without cells."""
        return next((number for number, cell in enumerate(self._buffer.cells, 1) if cell.uri == uri), 0)

    def range(self, place: Place) -> types.Range:
        return self.of_cell(place.cell).range(place)

    def _of_cell(self, cell: int) -> Positions:
        """The lines of a cell, or of a document without cells."""
        cells = self._buffer.cells
        return Positions(cells[max(cell, 1) - 1].text if cells else self._buffer.text, self._encoding)
