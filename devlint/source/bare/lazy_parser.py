"""The lazy parser of bare nodes: the skeleton of a file at once, the bodies of its definitions when they are needed."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from devlint.source.bare.nodes import NeedsLayout
from devlint.source.bare.statements import definition, module
from devlint.source.gate import check_syntax
from devlint.source.lines import Lines

if TYPE_CHECKING:
    import libcst as cst

    from devlint.source.outline import Function, Outline
    from devlint.source.part import Part


class BareLazyParser:
    """What :class:`devlint.source.lazy_parser.LazyParser` is for LibCST's own trees. Its nodes have no places."""

    def __init__(
        self,
        text: str,
        tree: ast.Module,
        outline: Outline,
        keeps: bool = False,
        begins: Sequence[int] | None = None,
    ) -> None:
        """``keeps``: all that was made is kept, in many times the memory of the text, for a short life.

        ``begins``: the tree is that of the skeleton, in which the definitions begin at these lines.
        """
        self._definitions = outline.definitions
        self._lines = Lines(text)
        met: dict[int, Function] = {}
        if begins is None:
            begins = [found.first for found in outline.definitions]
        self._skeleton = module(tree.body, {line: number for number, line in enumerate(begins)}, met)
        if len(met) < len(set(begins)):
            raise NeedsLayout("a definition that does not begin where it is said to")
        self._met = met if keeps else {}
        self._made: dict[int, cst.FunctionDef] | None = {} if keeps else None
        self.parsed: list[Part] = []

    def skeleton(self) -> cst.Module:
        """The file without the bodies of its definitions."""
        return self._skeleton

    def definition(self, number: int) -> cst.FunctionDef:
        """One definition in full."""
        made = None if self._made is None else self._made.get(number)
        if made is None:
            made = definition(self._met.get(number) or self._parsed_again(number))
            if self._made is not None:
                self._made[number] = made
        return made

    def _parsed_again(self, number: int) -> Function:
        found = self._definitions[number]
        text, _ = self._lines.statement(found.first, found.last)
        tree, _ = check_syntax(text)
        statement = tree.body[0] if tree is not None and tree.body else None
        if isinstance(statement, ast.If):
            statement = statement.body[0]
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            raise NeedsLayout("a definition that does not stand alone")
        return statement
