"""Positions of nodes, computed only for a file that has findings.

Positions cost nineteen times a parse by :mod:`ast`, so they are computed once, on first use.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from devlint.finding import Place
from devlint.placement.syntax.nodes import descend
from devlint.placement.syntax.snippets import normalised
from devlint.source.bare.nodes import NeedsLayout, is_bare
from devlint.source.line_ends import line_starts
from devlint.source.part import Part


class Positions:
    """Line and column of every node of one file; 1-based, columns in code points.

    ``parts`` are the parsed parts of the file. ``others`` are the parts of other files by path, for trace steps in
    those files.
    """

    def __init__(
        self, parts: Sequence[Part], path: str, others: Mapping[str, Sequence[Part]] = MappingProxyType({})
    ) -> None:
        self._parts = [_Placed(part) for part in parts]
        self._path = path
        self._others = others
        self._opened: dict[str, Positions] = {}
        self._offsets: list[int] = []

    @property
    def trees(self) -> list[cst.Module]:
        """The parsed trees."""
        return [part.tree for part in self._parts]

    def _placed(self, node: cst.CSTNode) -> _Placed | None:
        """The part that contains the node; None for a node of another file."""
        found = next((part for part in self._parts if id(node) in part.nodes), None)
        if found is None and is_bare(node):
            raise NeedsLayout("the place of a node without one")
        return found

    def holds(self, node: cst.CSTNode) -> bool:
        """Whether the node is of this file: a device that a function of another file names was written there."""
        return self._placed(node) is not None

    def place(self, node: cst.CSTNode, path: str | None = None) -> Place:
        """The node's region in the file at ``path``. Line 1 for a node that is in none of the file's parts.

        Where a chain of calls goes over several lines, that of a call begins at the name of its method, as the line in
        a traceback does.
        """
        if path is not None and path != self._path and path in self._others:
            if path not in self._opened:
                self._opened[path] = Positions(self._others[path], path)
            return self._opened[path].place(node)
        part = self._placed(node)
        found = part.ranges.get(node) if part is not None else None
        if part is None or found is None:
            return Place(path or self._path, 1, 1, 1, 1)
        start = found.start
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            method = part.ranges[node.func.attr].start
            start = method if method.line != start.line else start
        first, last = part.line(start.line), part.line(found.end.line)
        return Place(path or self._path, first, start.column + 1, last, found.end.column + 1)

    def span(self, node: cst.CSTNode, text: str) -> tuple[int, int] | None:
        """The node without its own parentheses, in character offsets into ``text``, the tree's own source.

        None for a node of another file. LibCST miscounts columns after a form feed at the start of a line; there, the
        result is the nearby region that contains most of the node's code.
        """
        part = self._placed(node)
        found = part.ranges.get(node) if part is not None else None
        if part is None or found is None:
            return None
        first, last = (self._line_starts(text)[part.line(place.line) - 1] for place in (found.start, found.end))
        if "\f" not in text:
            return first + found.start.column, last + found.end.column
        code = _solid(part.tree.code_for_node(node))
        best: tuple[int, tuple[int, int]] | None = None
        for shift in (0, 1, -1, 2, -2):
            start = first + found.start.column + shift
            end = last + found.end.column + (shift if first == last else 0)
            shown = _solid(text[start:end])
            if shown in code and (best is None or len(shown) > best[0]):
                best = len(shown), (start, end)
        return best[1] if best is not None else None

    def _line_starts(self, text: str) -> list[int]:
        if not self._offsets:
            self._offsets = line_starts(text)
        return self._offsets

    def snippet(self, node: cst.CSTNode) -> str:
        """The node's code, normalised so that reformatting does not change it. Enclosing parentheses are dropped."""
        part = self._placed(node)
        tree = part.tree if part is not None else _EMPTY
        if isinstance(node, cst.BaseExpression):
            node = node.with_changes(lpar=(), rpar=())
        return normalised(tree.code_for_node(node))

    def statement_lines(self, node: cst.CSTNode) -> tuple[int, ...]:
        """The lines of the simple statement, or of the header of the compound statement, that holds the node."""
        part = self._placed(node)
        return part.statement_lines(node) if part is not None else ()


_EMPTY = cst.Module(body=[])


class _Placed:
    """One parsed part with the positions of its nodes."""

    def __init__(self, part: Part) -> None:
        self.tree = part.tree
        self.line = part.line

    @cached_property
    def nodes(self) -> frozenset[int]:
        """The identities of its nodes: cheaper to look up than their positions."""
        return frozenset(id(node) for node in descend(self.tree))

    @cached_property
    def ranges(self) -> Mapping[cst.CSTNode, CodeRange]:
        return _Wrapper(self.tree, unsafe_skip_copy=True).resolve(PositionProvider)

    def statement_lines(self, node: cst.CSTNode) -> tuple[int, ...]:
        found = self.ranges.get(node)
        if found is None or isinstance(node, cst.Module):
            return ()
        place = (found.start.line, found.start.column)
        # The innermost statement is the last one that starts before the node and ends after the node's start.
        for index in range(bisect_right(self._starts, place) - 1, -1, -1):
            first, end, last = self._statements[index]
            if place < end:
                return tuple(range(self.line(first), self.line(last) + 1))
        return ()

    @cached_property
    def _starts(self) -> list[tuple[int, int]]:
        return [start for start, _ in self._in_order]

    @cached_property
    def _statements(self) -> list[tuple[int, tuple[int, int], int]]:
        """For each statement in source order: first line, end position, and last line of the statement or of its
        header.
        """
        found = []
        for _, statement in self._in_order:
            whole = self.ranges[statement]
            last = whole.end.line
            if isinstance(statement, cst.BaseCompoundStatement):
                inner = statement.cases[0] if isinstance(statement, cst.Match) else statement.body
                last = max(self.ranges[inner].start.line - 1, whole.start.line)
            found.append((whole.start.line, (whole.end.line, whole.end.column), last))
        return found

    @cached_property
    def _in_order(self) -> list[tuple[tuple[int, int], cst.CSTNode]]:
        ranges = [(place.start, node) for node, place in self.ranges.items() if isinstance(node, cst.BaseStatement)]
        return sorted((((start.line, start.column), node) for start, node in ranges), key=lambda pair: pair[0])


class _Wrapper(MetadataWrapper):
    """A wrapper that skips the traversal for visitors when there are none: positions do not need any."""

    def visit_batched(
        self,
        visitors: Iterable[cst.BatchableCSTVisitor],
        before_visit: Callable[[cst.CSTNode], None] | None = None,
        after_leave: Callable[[cst.CSTNode], None] | None = None,
    ) -> cst.CSTNode:
        visitors = list(visitors)
        return super().visit_batched(visitors, before_visit, after_leave) if visitors else self.module


def _solid(code: str) -> str:
    """Code without whitespace, because LibCST may render whitespace that differs from the source."""
    return re.sub(r"\s", "", code)
