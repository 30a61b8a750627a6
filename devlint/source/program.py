"""The program of a file that another one imports: what is read of it.

Of a file that does not name torch that is its imports: whatever it computes, it makes no tensor, and the names that it
exports are all that counts. Not so where it defines a module, with a base of the project: ``class Mean(Base)``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from devlint.source.gate import check_syntax, too_deep
from devlint.source.outline import Outline, outline_of
from devlint.source.python_parser import parse
from devlint.source.role import has_main_guard


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
    """The program of a text; None for a text that the gate refuses."""
    tree, refusal = check_syntax(text)
    if (refusal is not None and refusal.final) or too_deep(text, tree) is not None:
        return None
    about_torch, is_main = "torch" in text, has_main_guard(text)
    if tree is not None and not about_torch and _FORWARD not in text:
        text = _imports_of(tree)
        tree = parse(text)
    return Program(text, tree, outline_of(tree) if tree is not None else None, about_torch, is_main)


_FORWARD = "def forward("
"""What every module defines, or leaves to a base that does."""


def _imports_of(tree: ast.Module) -> str:
    statements = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return "".join(ast.unparse(statement) + "\n" for statement in statements)
