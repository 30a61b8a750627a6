"""LibCST's own nodes in the place of bare ones: two trees of the same text, gone through side by side."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.placement.syntax.nodes import body_of, code_of, rendered_texts, semantic_children
from devlint.source.bare.nodes import NeedsLayout, is_bare

_BLOCKS = frozenset({cst.IndentedBlock, cst.SimpleStatementSuite})


class Counterparts:
    """For each node of bare trees, the node of LibCST's that stands at the same place of the text."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[cst.CSTNode, cst.CSTNode]] = {}
        """By the identity of a bare node: that node, which keeps its identity, and its counterpart."""
        self._shared: set[int] = set()
        """Bare nodes that stand at several places: operators have no parts, and one of each is made."""

    def add(self, bare: cst.CSTNode, full: cst.CSTNode, *, quoted: bool = False) -> None:
        """Go through two trees of one text. Raises NeedsLayout if they do not have the same nodes.

        ``quoted``: any expression of them may be, since they were rendered before, when nothing was noted of it.
        """
        stack = [(bare, full)]
        while stack:
            one, other = stack.pop()
            if quoted and isinstance(one, cst.BaseExpression):
                code_of(one)
            if self._found.setdefault(id(one), (one, other))[1] is not other:
                self._shared.add(id(one))
            children, others = semantic_children(one), semantic_children(other)
            if type(one) is not type(other) or len(children) != len(others):
                if type(other) is cst.ConcatenatedString:
                    continue  # a text in pieces, of which bare trees make one
                if type(one) not in _BLOCKS or type(other) not in _BLOCKS:
                    raise NeedsLayout(f"a {type(other).__name__} where a bare tree has a {type(one).__name__}")
                # Statements that share a line.
                children, others = (list(body_of(block)) for block in (one, other))  # type: ignore[arg-type]
                if len(children) != len(others):
                    raise NeedsLayout("a block of which a bare tree has other statements")
            stack += zip(children, others, strict=True)

    def of(self, node: cst.CSTNode) -> cst.CSTNode:
        """The counterpart of a bare node; any other node itself. Raises NeedsLayout for a bare one of another tree."""
        found = self._found.get(id(node))
        if found is not None and id(node) not in self._shared:
            return found[1]
        if found is not None or is_bare(node):
            raise NeedsLayout("a node of a tree that was not read with its layout")
        return node

    def rendered(self) -> Iterator[tuple[str, str]]:
        """Texts of bare nodes that the analysis went by, each with what the source has there."""
        texts = rendered_texts()
        for key, (bare, full) in self._found.items():
            said = texts.get(key)
            if said is not None:
                yield said[1], code_of(full)
            elif type(bare) is cst.Name:
                yield bare.value, code_of(full)
