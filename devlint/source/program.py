"""The program of a file that another one imports: what is read of it.

A file that does not name torch is read as any other: classes that hold tensors derive from its classes, and its
functions move what they are handed.
"""

from __future__ import annotations

import ast

from devlint.records import dataclass
from devlint.source.gate import check_syntax, too_deep
from devlint.source.outline import Outline, outline_of


@dataclass(frozen=True, slots=True)
class Program:
    """``tree`` and ``outline`` are None for a text that :mod:`ast` does not know."""

    text: str
    tree: ast.Module | None
    outline: Outline | None


def program_of(text: str) -> Program | None:
    """The program of a text; None for a text that the gate refuses."""
    tree, refusal = check_syntax(text)
    if (refusal is not None and refusal.final) or too_deep(text, tree) is not None:
        return None
    return Program(text, tree, outline_of(tree) if tree is not None else None)
