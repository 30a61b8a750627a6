"""Places as the protocol counts them: from 0, and columns in the code units that client and server agreed upon."""

from __future__ import annotations

from functools import cached_property

from lsprotocol import types

from devlint.finding import Place
from devlint.source.line_ends import LINE_END

_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
_BYTE_ORDER_MARK = "\ufeff"


class Positions:
    """The lines of one text, for the way between devlint's places (from 1, in code points) and the protocol's.

    Both end a line at the same characters. What lies outside of the text is moved to its nearest place.
    """

    def __init__(self, text: str, encoding: str) -> None:
        """``encoding``: ``utf-8``, ``utf-16`` or ``utf-32``."""
        self._text = text
        self._lines = LINE_END.split(text)
        self._codec, self._unit = _UNITS[encoding]
        self._mark = int(text.startswith(_BYTE_ORDER_MARK))  # which devlint counts as no part of the text

    def position(self, line: int, column: int) -> types.Position:
        """The position of a line and a column, as devlint counts."""
        number = min(max(line, 1), len(self._lines)) - 1
        text = self._lines[number]
        characters = len(text) if line > len(self._lines) else max(column - 1, 0) + self._shift(number)
        return types.Position(number, self._units(text[:characters]))

    def range(self, place: Place) -> types.Range:
        return types.Range(
            self.position(place.line, place.column),
            self.position(place.end_line, place.end_column),
        )

    def place(self, position: types.Position) -> tuple[int, int]:
        """The line and the column of a position, as devlint counts."""
        number = min(position.line, len(self._lines) - 1)
        text = self._lines[number]
        encoded = text.encode(self._codec, "surrogatepass")[: position.character * self._unit]
        characters = len(text) if position.line > number else len(encoded.decode(self._codec, "ignore"))
        return number + 1, max(characters - self._shift(number), 0) + 1

    def offset(self, position: types.Position) -> int:
        """The characters before a position."""
        number = min(position.line, len(self._lines) - 1)
        if position.line > number:
            return len(self._text)
        encoded = self._lines[number].encode(self._codec, "surrogatepass")[: position.character * self._unit]
        return self._starts[number] + len(encoded.decode(self._codec, "ignore"))

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in LINE_END.finditer(self._text))]

    def _units(self, text: str) -> int:
        return len(text.encode(self._codec, "surrogatepass")) // self._unit

    def _shift(self, number: int) -> int:
        return self._mark if number == 0 else 0
