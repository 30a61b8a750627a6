"""The lazy parser: the skeleton of a file at once, the bodies of its definitions when they are needed.

In the skeleton the body of a definition is its number, an integer alone on a line: LibCST parses signatures, bodies of
classes and the module level, and skips the rest. Each text that is parsed later keeps its columns, and is a
:class:`~devlint.source.part.Part` that knows which lines of the file its own are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from devlint.source.decoding import LINE_END
from devlint.source.gate import Refusal, parse_tree
from devlint.source.lines import Lines
from devlint.source.part import Part

if TYPE_CHECKING:
    import libcst as cst

    from devlint.source.outline import Definition, Outline

_BLANKS = re.compile(r"[ \t\f]*")


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
        texts: list[str] = []
        lines: list[int] = []
        at = 1
        for definition in self._definitions:
            if not self._lines.leads(definition.body, definition.column):
                continue
            texts.append(self._lines.between(at, definition.body - 1))
            lines.extend(range(at, definition.body + 1))
            texts.append(f"{self._indent(definition)}{definition.number}{self._end(definition.last)}")
            at = definition.last + 1
        texts.append(self._lines.between(at, len(self._lines.starts)))
        lines.extend(range(at, len(self._lines.starts) + 1))
        # texts are whole lines, so that what is parsed has the columns of the file
        tree = parse_tree("".join(texts))
        if not isinstance(tree, Refusal):
            self.parsed.append(Part(tree, lines))
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

    def _indent(self, definition: Definition) -> str:
        """Deeper than the header, whatever it is indented by."""
        start = self._lines.starts[definition.first - 1]
        found = _BLANKS.match(self._text, start)
        return (found[0] if found else "") + " "

    def _end(self, line: int) -> str:
        """The line end of a line of the file."""
        after = self._lines.starts[line] if line < len(self._lines.starts) else len(self._text)
        found = LINE_END.search(self._text, self._lines.starts[line - 1], after)
        return found[0] if found else "\n"
