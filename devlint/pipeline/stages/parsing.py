"""Stage: the syntax of a text by :mod:`ast`, and the gate before LibCST."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from devlint.pipeline.lint_result import LintResult
from devlint.records import dataclass
from devlint.source.gate import Refusal, check_syntax, too_deep
from devlint.source.role import Role, role_of

if TYPE_CHECKING:
    import ast

    from devlint.source.outline import Outline
    from devlint.source.program import Program


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text and what :mod:`ast` makes of it. ``tree`` and ``outline`` are None for a text that it refuses."""

    text: str
    role: Role
    tree: ast.Module | None
    outline: Outline | None
    refusal: Refusal | None
    """Why :mod:`ast` refuses the text, or why the gate does; None if neither does."""
    blocked: bool
    """Whether LibCST must not, or need not, read the text: then the refusal is final."""


def parse(text: str, in_project: str, program: Program | None = None) -> Parsed:
    """The text with its tree and outline, if it passes the gate. ``in_project`` is its path, which decides its role.

    ``program`` may be that of the text: then it is not parsed again.
    """
    role = role_of(PurePath(in_project), text)
    if program is not None and program.tree is not None and program.text == text:
        return Parsed(text, role, program.tree, program.outline, None, False)
    tree, refusal = check_syntax(text)
    blocked = _blocked(text, tree, refusal)
    if blocked is not None:
        return Parsed(text, role, None, None, blocked, True)
    if tree is None:
        return Parsed(text, role, None, None, refusal, False)
    # The screen leaves most files out: what the others need is imported with the first of them.
    from devlint.source.outline import outline_of

    return Parsed(text, role, tree, outline_of(tree), None, False)


def syntax_alone(text: str) -> LintResult:
    """The lint result of a text that the screen left out: no finding, but the refusal of a text that is no Python."""
    tree, refusal = check_syntax(text)
    if tree is not None:
        return LintResult()
    blocked = _blocked(text, None, refusal)
    if blocked is not None:
        return LintResult(refusal=blocked)
    from devlint.source.lazy_parser import LazyParser

    skeleton = LazyParser(text, None).skeleton()
    return LintResult(refusal=better_refusal(skeleton, refusal) if isinstance(skeleton, Refusal) else None)


def better_refusal(by_libcst: Refusal, by_ast: Refusal | None) -> Refusal:
    """The one of two refusals that is reported: :mod:`ast` knows the place and the reason of a syntax error better."""
    if by_ast is not None and by_ast.syntax and by_libcst.syntax:
        return by_ast
    if by_ast is None and by_libcst.syntax:
        # A syntax error only if ast gave up for depth, else our own shortcoming.
        return replace(by_libcst, syntax=False, message="LibCST does not understand its syntax")
    return by_libcst


def _blocked(text: str, tree: ast.Module | None, refusal: Refusal | None) -> Refusal | None:
    """Why LibCST need not, or must not, read the text; None if it may."""
    return refusal if refusal is not None and refusal.final else too_deep(text, tree)
