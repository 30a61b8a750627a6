"""Places of nodes, computed only for a file that has something to say.

Positions cost nineteen times a parse by :mod:`ast`, so they are resolved once, on the first question.
"""

from __future__ import annotations

from functools import cached_property

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

from devlint.finding import Place


class Positions:
    """Line and column of every node of one tree; 1-based, columns in code points."""

    def __init__(self, tree: cst.Module, path: str) -> None:
        self._tree = tree
        self._path = path

    @cached_property
    def _wrapper(self) -> MetadataWrapper:
        return MetadataWrapper(self._tree, unsafe_skip_copy=True)

    @cached_property
    def _ranges(self) -> dict[cst.CSTNode, CodeRange]:
        return dict(self._wrapper.resolve(PositionProvider))

    @cached_property
    def _parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        return dict(self._wrapper.resolve(ParentNodeProvider))

    def place(self, node: cst.CSTNode, path: str | None = None) -> Place:
        """The node's region. A node of another file, or none of the text's own, is placed at the file's first line."""
        found = self._ranges.get(node)
        if found is None:
            return Place(path or self._path, 1, 1, 1, 1)
        return Place(path or self._path, found.start.line, found.start.column + 1, found.end.line, found.end.column + 1)

    def snippet(self, node: cst.CSTNode) -> str:
        """The node's code with whitespace normalised: what of it survives reformatting."""
        return " ".join(self._tree.code_for_node(node).split())

    def statement_lines(self, node: cst.CSTNode) -> tuple[int, ...]:
        """The lines of the simple statement, or of the header of the compound statement, that holds the node."""
        current: cst.CSTNode | None = node
        while current is not None and not isinstance(current, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            current = self._parents.get(current)
        if current is None:
            return ()
        whole = self._ranges[current]
        last = whole.end.line
        if isinstance(current, cst.BaseCompoundStatement):
            last = max(self._ranges[current.body].start.line - 1, whole.start.line)
        return tuple(range(whole.start.line, last + 1))
