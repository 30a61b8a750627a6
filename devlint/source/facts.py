"""What of a file another one can depend on: its program, without comments, docstrings and blank lines.

Two texts with the same facts tell every other file the same, as long as it names no line of theirs.
"""

from __future__ import annotations

import ast
import re
import sys

from devlint.source.gate import statements_in

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


def facts_of(text: str, tree: ast.Module | None) -> str:
    """Tells the program of ``text`` from any other. ``tree`` is what :mod:`ast` makes of it, None if it refuses.

    Whether the text speaks of torch at all decides how a file is read, and counts even in a comment.
    """
    program = text
    if tree is not None and not (NESTED_QUOTES and any(map(_is_cut, _NOISE.finditer(text)))):
        program = _NOISE.sub(_kept, "\n" + _without_docstrings(text, tree))
    about_torch = "torch" in text
    import hashlib

    return hashlib.blake2b(f"{about_torch}\0{program}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _kept(match: re.Match[str]) -> str:
    return match["string"] or "\n"


def _is_cut(match: re.Match[str]) -> bool:
    """Whether a string seems to end in the middle of a replacement field, where another one begins in truth."""
    found = match["string"]
    if not found or found[0] in "'\"":
        return False
    prefix = found[: min(found.find(quote) % len(found) for quote in "'\"")].lower()
    return ("f" in prefix or "t" in prefix) and found.count("{") != found.count("}")


def _without_docstrings(text: str, tree: ast.Module) -> str:
    """The text with ``""`` for each docstring that has its lines for itself."""
    spans = sorted(_docstrings(tree))
    if not spans:
        return text
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    kept: list[str] = []
    at = 0
    for first, last in spans:
        if _DOCSTRING.match(lines[first]) is None:
            continue
        kept += lines[at:first]
        indent = lines[first][: len(lines[first]) - len(lines[first].lstrip(" \t\f"))]
        kept.append(f'{indent}""\n')
        at = last + 1
    return "".join([*kept, *lines[at:]])


def _docstrings(tree: ast.Module) -> list[tuple[int, int]]:
    """First and last line of each docstring, counted from 0."""
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
                found.append((first.lineno - 1, last_line - 1))
    return found
