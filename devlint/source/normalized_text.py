"""The normalized text of a program: the same for texts that differ in comments and empty lines alone.

So it is for docstrings that state the same types: nothing else of another file's docstrings is read.
"""

from __future__ import annotations

import ast
import re
import sys
from bisect import bisect_left

from devlint.source.docstring_types import types_stated
from devlint.source.gate import statements_in
from devlint.source.lines import Lines
from devlint.source.string_pattern import STRING

_NOISE = re.compile(
    rf"""
      {STRING}
    | (?: (?<![ \t\f]) [ \t\f]*+ (?:\#[^\r\n]*+)? (?:\r\n|\r|\n) )+
    | (?<![ \t\f]) [ \t\f]*+ \#[^\r\n]*+ \Z
    """,
    re.X | re.S,
)
"""Strings, which are kept, and what ends a line: trailing blanks, a comment, the end itself, and empty lines after."""

NESTED_QUOTES = sys.version_info >= (3, 12)
"""Whether a formatted string may hold others in quotes of its own kind, at which the expression takes it to end."""

_DOCSTRING = re.compile(r"[ \t\f]*[rRuU]?['\"]")


class NormalizedText:
    """The text of a program without comments and empty lines; of docstrings it has the types that they state."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self._lines = Lines(text)
        self._docstrings = sorted(found for found in _docstrings(tree) if self._has_its_lines(*found[:2]))

    def _has_its_lines(self, first: int, last: int) -> bool:
        return _DOCSTRING.match(self._lines.between(first, last)) is not None

    def lines(self, first: int, last: int) -> str:
        """These lines, which are whole statements, with the types that it states for each docstring that has its
        lines for itself."""
        texts: list[str] = []
        at = first
        for begins, ends, stated in self._docstrings[bisect_left(self._docstrings, (first, 0, "")) :]:
            if begins > last:
                break
            docstring = self._lines.between(begins, ends)
            indent = docstring[: len(docstring) - len(docstring.lstrip(" \t\f"))]
            types = repr(sorted(types_stated(stated).items())) if ":" in stated else ""
            texts += [self._lines.between(at, begins - 1), f"{indent}{types!r}\n"]
            at = ends + 1
        if at <= last:
            texts.append(self._lines.between(at, last))
        text = "".join(texts)
        if NESTED_QUOTES and any(map(_is_cut, _NOISE.finditer(text))):
            return text
        return _NOISE.sub(_kept, "\n" + text)

    def whole(self) -> str:
        """All lines."""
        return self.lines(1, len(self._lines.starts))


def _kept(match: re.Match[str]) -> str:
    return match["string"] or "\n"


def _is_cut(match: re.Match[str]) -> bool:
    """Whether a string seems to end in the middle of a replacement field, where another one begins in truth."""
    found = match["string"]
    if not found or found[0] in "'\"":
        return False
    prefix = found[: min(found.find(quote) % len(found) for quote in "'\"")].lower()
    return ("f" in prefix or "t" in prefix) and found.count("{") != found.count("}")


def _docstrings(tree: ast.Module) -> list[tuple[int, int, str]]:
    """First and last line of each docstring with no other statement on them, 1-based, and its text."""
    found: list[tuple[int, int, str]] = []
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        stack += statements_in(node)
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) or not node.body:
            continue
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            last_line = first.end_lineno or first.lineno
            alone = node.body[1].lineno > last_line if len(node.body) > 1 else True
            header = getattr(node, "lineno", 0)
            if alone and first.lineno > header:
                found.append((first.lineno, last_line, first.value.value))
    return found
