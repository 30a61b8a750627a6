"""The layout of a text: where nodes stand in it, their parentheses, comments, line ends and indentation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property

import libcst as cst

from devlint.placement.syntax.nodes import descend, semantic_children
from devlint.placement.syntax.positions import Positions
from devlint.source.bare.nodes import NeedsLayout, is_bare

Whole = Callable[[cst.FunctionDef], cst.FunctionDef]

TextEdit = tuple[int, int, str]
"""Start and end in characters, and the new text."""


class CannotEdit(Exception):
    """A change cannot be made here, or not without losing something: its repair has no edits then."""


class Layout:
    """Where the nodes of one file stand in its text. Offsets are in characters.

    A node that is not found in the text raises CannotEdit.

    ``whole`` gives the definition in full of which only the signature may have been parsed.
    """

    def __init__(self, text: str, positions: Positions, whole: Whole | None = None) -> None:
        self._text = text
        self._positions = positions
        self._whole: Whole = whole or (lambda function: function)

    def whole(self, function: cst.FunctionDef) -> cst.FunctionDef:
        """The definition in full."""
        found = self._whole(function)
        if is_bare(found):
            raise NeedsLayout("the body of a definition without places")
        return found

    def enclosing(self, node: cst.CSTNode, *kinds: type) -> cst.CSTNode | None:
        """The innermost node of one of these kinds around a node; None if there is none."""
        parent = self.parents.get(node)
        if parent is None and is_bare(node):
            raise NeedsLayout("what is around a node without a place")
        while parent is not None and not isinstance(parent, kinds):
            parent = self.parents.get(parent)
        return parent

    @cached_property
    def parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        nodes = (node for tree in self._positions.trees for node in descend(tree))
        return {child: node for node in nodes for child in semantic_children(node)}

    @cached_property
    def unit(self) -> str:
        """What one level is indented by: as much as the first line that is."""
        found = _INDENTED.search(self._text)
        return found[1] if found else " " * 4

    def source(self, node: cst.CSTNode) -> str:
        """The text of a node. Raises CannotEdit if a comment stands in it."""
        start, end = self.outer(node)
        self.without_comment(start, end)
        return self._text[start:end]

    def without_comment(self, start: int, end: int) -> TextEdit:
        """A removal, unless a comment would go with it. A `#` in a string is taken for one: no harm in that."""
        if "#" in self._text[start:end]:
            raise CannotEdit
        return start, end, ""

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end of a node without its own parentheses."""
        span = self._positions.span(node, self._text)
        if span is None:
            raise CannotEdit
        return span

    def outer(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end of a node with its own parentheses."""
        start, end = self.span(node)
        for _ in getattr(node, "lpar", ()):
            opening, closing = self._opening(start), _CLOSING.match(self._text, end)
            if closing is None or opening < 0:
                raise CannotEdit
            start, end = opening, closing.end()
        return start, end

    def text_of(self, start: int, end: int) -> str:
        return self._text[start:end]

    def _opening(self, at: int) -> int:
        """Where the parenthesis stands that opens before ``at`` with nothing but blanks and comments between; or -1."""
        opening = self._text.rfind("(", 0, at)
        while opening >= 0 and _GAP.fullmatch(self._text, opening + 1, at):
            if "#" not in self._text[self.line_start(opening) : opening]:
                return opening
            opening = self._text.rfind("(", 0, opening)
        return -1

    def begins_line(self, at: int) -> bool:
        return not self._text[self.line_start(at) : at].strip()

    def indent(self, at: int) -> str:
        """The blanks before what begins its line there. Raises CannotEdit if it begins no line."""
        indent = self._text[self.line_start(at) : at]
        if indent.strip():
            raise CannotEdit
        return indent

    def line_start(self, at: int) -> int:
        return max(self._text.rfind("\n", 0, at), self._text.rfind("\r", 0, at)) + 1

    def line_end(self, at: int) -> int:
        found = _NEWLINE.search(self._text, at)
        return found.start() if found else len(self._text)

    def behind_line_end(self, at: int) -> int:
        """From the end of a line to the beginning of the next."""
        found = _NEWLINE.match(self._text, at)
        return found.end() if found else at

    def lines_of(self, start: int, end: int) -> Iterator[int]:
        """Where each line that is not blank begins, of those from ``start`` to the one with ``end``."""
        while start < end:
            stop = self.line_end(start)
            if self._text[start:stop].strip():
                yield start
            start = max(self.behind_line_end(stop), start + 1)

    def above_comments(self, at: int) -> int:
        """From the beginning of a line to that of the first of the comments right above it, equally far in."""
        lead = _LEAD.match(self._text, at)
        indent = lead[0] if lead else ""
        while at:
            before = self.line_start(at - 2 if self._text[max(at - 2, 0) : at] == "\r\n" else at - 1)
            if not self._text.startswith(f"{indent}#", before):
                break
            at = before
        return at

    def newline(self, at: int) -> str:
        """The line end that stands there, or, at the end of the text, the one of the text."""
        found = _NEWLINE.match(self._text, at) or _NEWLINE.search(self._text)
        return found[0] if found else "\n"


_LEAD = re.compile(r"[ \t]*")
_INDENTED = re.compile(r"^([ \t]+)[^\s#]", re.M)
_NEWLINE = re.compile(r"\r\n|\r|\n")
_GAP = re.compile(r"(?:[ \t\f\r\n]|\\(?=[\r\n])|#[^\r\n]*+)*+")
_CLOSING = re.compile(_GAP.pattern + r"\)")
