"""A file as bare nodes in parts: its skeleton at once, the bodies of definitions when somebody asks for them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devlint.source.bare.nodes import NeedsLayout
from devlint.source.bare.statements import definition, module
from devlint.source.decoding import LINE_END
from devlint.source.gate import check_syntax

if TYPE_CHECKING:
    import libcst as cst

    from devlint.source.outline import Function, Outline
    from devlint.source.part import Part


class BareParts:
    """What :class:`devlint.source.parts.Parts` is for LibCST's own trees. It has no parts that have places."""

    def __init__(self, text: str, tree: ast.Module, outline: Outline, keeps: bool = False) -> None:
        """``keeps``: all that was made is kept, in many times the memory of the text, for a short life."""
        self._text = text
        self._definitions = outline.definitions
        self._starts: list[int] = []
        met: dict[int, Function] = {}
        self._skeleton = module(tree.body, {found.first: found.number for found in outline.definitions}, met)
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
        if not self._starts:
            self._starts = [0, *(match.end() for match in LINE_END.finditer(self._text)), len(self._text)]
        text = self._text[self._starts[found.first - 1] : self._starts[min(found.last, len(self._starts) - 1)]]
        tree, _ = check_syntax(f"if 1:\n{text}" if text[:1] in (" ", "\t", "\f") else text)
        statement = tree.body[0] if tree is not None else None
        if isinstance(statement, ast.If):
            statement = statement.body[0]
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            raise NeedsLayout("a definition that does not stand alone")
        return statement
