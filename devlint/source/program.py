"""What is read of a file that another one asks about, and its text without what means nothing to others.

Of a file that does not speak of torch that is its imports: whatever it computes, it makes no tensor, and the names it
hands on are all that counts.
"""

from __future__ import annotations

import ast
import re
import sys
from bisect import bisect_left
from dataclasses import dataclass

from devlint.source.gate import check_syntax, statements_in, too_deep
from devlint.source.lines import Lines
from devlint.source.outline import Outline, outline_of
from devlint.source.role import has_main_guard

_NOISE = re.compile(
    r"""
      (?P<string> [A-Za-z]{0,2} (?: (?P<triple>\"{3}|'{3}) (?:\\.|(?!(?P=triple)).)* (?P=triple)
                  | "(?:\\.|[^"\\\r\n])*" | '(?:\\.|[^'\\\r\n])*' ))
    | (?: [ \t\f]* (?:\#[^\r\n]*)? (?:\r\n|\r|\n) )+
    | [ \t\f]* \#[^\r\n]* \Z
    """,
    re.X | re.S,
)
"""Strings, which are kept, and what ends a line: trailing blanks, a comment, the end itself, and empty lines after."""

NESTED_QUOTES = sys.version_info >= (3, 12)
"""Whether a formatted string may hold others in quotes of its own kind, at which the expression takes it to end."""

_DOCSTRING = re.compile(r"[ \t\f]*[rRuU]?['\"]")


@dataclass(frozen=True, slots=True)
class Program:
    """``tree`` and ``outline`` are None for a text that :mod:`ast` does not know."""

    text: str
    tree: ast.Module | None
    outline: Outline | None
    about_torch: bool
    is_main: bool
    """It runs when it is the main program."""


def program_of(text: str) -> Program | None:
    """What is read of a text; None where nothing can be."""
    tree, refusal = check_syntax(text)
    if (refusal is not None and refusal.final) or too_deep(text, tree) is not None:
        return None
    about_torch, is_main = "torch" in text, has_main_guard(text)
    if tree is not None and not about_torch:
        text = _imports_of(tree)
        tree = ast.parse(text)
    return Program(text, tree, outline_of(tree) if tree is not None else None, about_torch, is_main)


def _imports_of(tree: ast.Module) -> str:
    statements = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return "".join(ast.unparse(statement) + "\n" for statement in statements)


class Sense:
    """Lines of a program without comments, docstrings and empty lines."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self._lines = Lines(text)
        self._docstrings = sorted(span for span in _docstrings(tree) if self._has_its_lines(*span))

    def _has_its_lines(self, first: int, last: int) -> bool:
        return _DOCSTRING.match(self._lines.between(first, last)) is not None

    def of(self, first: int, last: int) -> str:
        """What these lines say, with ``""`` for each docstring that has its lines for itself; they are statements."""
        pieces: list[str] = []
        at = first
        for begins, ends in self._docstrings[bisect_left(self._docstrings, (first, 0)) :]:
            if begins > last:
                break
            docstring = self._lines.between(begins, ends)
            indent = docstring[: len(docstring) - len(docstring.lstrip(" \t\f"))]
            pieces += [self._lines.between(at, begins - 1), f'{indent}""\n']
            at = ends + 1
        if at <= last:
            pieces.append(self._lines.between(at, last))
        text = "".join(pieces)
        if NESTED_QUOTES and any(map(_is_cut, _NOISE.finditer(text))):
            return text
        return _NOISE.sub(_kept, "\n" + text)

    def whole(self) -> str:
        return self.of(1, len(self._lines.starts))


def _kept(match: re.Match[str]) -> str:
    return match["string"] or "\n"


def _is_cut(match: re.Match[str]) -> bool:
    """Whether a string seems to end in the middle of a replacement field, where another one begins in truth."""
    found = match["string"]
    if not found or found[0] in "'\"":
        return False
    prefix = found[: min(found.find(quote) % len(found) for quote in "'\"")].lower()
    return ("f" in prefix or "t" in prefix) and found.count("{") != found.count("}")


def _docstrings(tree: ast.Module) -> list[tuple[int, int]]:
    """First and last line of each docstring with no other statement on them, 1-based."""
    found: list[tuple[int, int]] = []
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
                found.append((first.lineno, last_line))
    return found
