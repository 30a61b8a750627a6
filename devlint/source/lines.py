"""The lines of one text by their numbers."""

from __future__ import annotations

from functools import cached_property

from devlint.source.line_ends import line_starts


class Lines:
    """Lines are 1-based and keep their ends."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def starts(self) -> list[int]:
        """Where each begins, in characters."""
        return line_starts(self._text)

    def between(self, first: int, last: int) -> str:
        """The text of these lines, both included."""
        if first > len(self.starts):
            return ""
        end = self.starts[last] if last < len(self.starts) else len(self._text)
        return self._text[self.starts[first - 1] : end]

    def leads(self, line: int, column: int) -> bool:
        """Whether what stands at a column, in bytes from 0, is the first on its line."""
        start = self.starts[line - 1]
        return not self._text[start : start + column].strip(" \t\f")

    def statement(self, first: int, last: int) -> tuple[str, bool]:
        """The statement on these lines as a text that parses, and whether a line that holds it was put before."""
        text = self.between(first, last)
        indented = text[:1] in (" ", "\t", "\f")
        return (f"if 1:\n{text}" if indented else text), indented
