"""Places of nodes, computed only for a file that has something to say.

Positions cost nineteen times a parse by :mod:`ast`, so they are resolved once, on the first question.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

from devlint.finding import Place


class Positions:
    """Line and column of every node of one tree; 1-based, columns in code points.

    ``others`` are the trees of other files by their paths, for the steps of a trace that lead there.
    """

    def __init__(self, tree: cst.Module, path: str, others: Mapping[str, cst.Module] = MappingProxyType({})) -> None:
        self._tree = tree
        self._path = path
        self._others = others
        self._opened: dict[str, Positions] = {}

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
        """The node's region in the file of that path. A node that is none of its text's is placed at its first line."""
        if path is not None and path != self._path and path in self._others:
            if path not in self._opened:
                self._opened[path] = Positions(self._others[path], path)
            return self._opened[path].place(node)
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
