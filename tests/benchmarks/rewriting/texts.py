"""Rewritings of a text that leave its syntax tree alone, or nearly."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def formatted(text: str) -> str:
    """Without comments, in the form of :func:`ast.unparse`."""
    return ast.unparse(ast.parse(text)) + "\n"


def commented(text: str) -> str:
    """With a comment and a blank line before each statement that begins its line."""
    lines = text.splitlines()
    first_of: dict[int, int] = {}
    for node in ast.walk(ast.parse(text)):
        for body in blocks_of(node):
            first_of |= {_first_line(one): one.col_offset for one in body}
    told: list[str] = []
    for number, line in enumerate(lines, 1):
        column = first_of.get(number)
        if column is not None and not line[:column].strip() and not _continues(lines, number):
            told += ["", " " * 3 + "# said of what follows"]
        told.append(line)
    return "\n".join(told) + "\n"


def blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The statement lists of a node, which may be changed in place."""
    for name in ("body", "orelse", "finalbody"):
        body = getattr(node, name, None)
        if isinstance(body, list):
            yield body


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min(node.lineno, *(int(one.lineno) for one in decorators), node.lineno)


def _continues(lines: list[str], number: int) -> bool:
    """Whether a backslash joins the line to the one before it."""
    return number > 1 and lines[number - 2].endswith("\\")
