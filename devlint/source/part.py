"""One text of a file that was parsed by itself, and which lines of the file it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst


class Part:
    """One text that was parsed. ``lines`` are the numbers that its lines have in the file, the first at index 0."""

    __slots__ = ("lines", "tree")

    def __init__(self, tree: cst.Module, lines: range | list[int] | None = None) -> None:
        self.tree = tree
        self.lines = lines

    def line(self, number: int) -> int:
        """The line of the file that a line of the part is."""
        if self.lines is None:
            return number
        # What ends behind the last line ends there in the file too.
        return self.lines[number - 1] if number <= len(self.lines) else self.lines[-1] + number - len(self.lines)
