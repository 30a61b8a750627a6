"""The lazy parser: the skeleton of a file at once, the bodies of its definitions when they are needed.

Each text that is parsed later than the skeleton keeps its columns, and is a :class:`~devlint.source.part.Part` that
knows which lines of the file its own are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.source.gate import Refusal, parse_tree
from devlint.source.lines import Lines
from devlint.source.part import Part
from devlint.source.skeleton import skeleton_of

if TYPE_CHECKING:
    import libcst as cst

    from devlint.source.outline import Outline


class LazyParser:
    """Parses one file by LibCST.

    ``outline`` is None for a text that :mod:`ast` refuses: that is parsed whole.
    """

    def __init__(self, text: str, outline: Outline | None) -> None:
        self._text = text
        self._definitions = outline.definitions if outline is not None else []
        self._lines = Lines(text)
        self.parsed: list[Part] = []
        """The texts that were parsed so far: the skeleton, then definitions in the order of use."""

    def skeleton(self) -> cst.Module | Refusal:
        """The file without the bodies of its definitions; a refusal where LibCST cannot parse it."""
        found = skeleton_of(self._text, self._definitions)
        tree = parse_tree(found.text)
        if not isinstance(tree, Refusal):
            self.parsed.append(Part(tree, found.lines))
        return tree

    def definition(self, number: int) -> cst.FunctionDef | None:
        """One definition in full; None where LibCST, unlike :mod:`ast`, refuses it."""
        import libcst as cst

        found = self._definitions[number]
        text, indented = self._lines.statement(found.first, found.last)
        tree = parse_tree(text)
        if isinstance(tree, Refusal):
            return None
        lines = range(found.first, found.last + 1)
        self.parsed.append(Part(tree, [found.first, *lines] if indented else lines))
        statement = tree.body[0]
        if isinstance(statement, cst.If):
            statement = cst.ensure_type(statement.body.body[0], cst.FunctionDef)
        return cst.ensure_type(statement, cst.FunctionDef)
