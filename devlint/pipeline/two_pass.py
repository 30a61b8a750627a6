"""What the rules say of one text.

They are asked twice: over bare trees, which cost a fraction of LibCST's own, to learn whether there is anything to say
at all; and where there is, over LibCST's, which know every place and blank. Both passes are the same analysis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from devlint.source.gate import Refusal, check_syntax, too_deep

if TYPE_CHECKING:
    import ast

    import libcst as cst

    from devlint.finding import Finding
    from devlint.pipeline.surroundings import Around
    from devlint.pipeline.task import FileTask
    from devlint.placement.declarations.index import FileIndex
    from devlint.placement.project.workspace import Project
    from devlint.source.asked import Asked
    from devlint.source.bare.parts import BareParts
    from devlint.source.outline import Outline
    from devlint.source.role import Role
    from devlint.source.tree import Tree


@dataclass(frozen=True, slots=True)
class Said:
    """Every finding of every rule, unfiltered, or why the rules could not be asked."""

    findings: tuple[Finding, ...] = ()
    refusal: Refusal | None = None
    watched: bool = False
    """Whether something was asked that the tree it is compared with may answer otherwise."""


def refused(text: str) -> Refusal | None:
    """Why a text of which nothing is to be said is no Python, if it is not."""
    tree, refusal = check_syntax(text)
    if tree is not None:
        return None
    stopped = _stopped(text, None, refusal)
    if stopped is not None:
        return stopped
    from devlint.source.parts import Parts

    skeleton = Parts(text, None).skeleton()
    return _why(skeleton, refusal) if isinstance(skeleton, Refusal) else None


def lint_text(text: str, task: FileTask, tree: Tree, asked: Asked | None) -> Said:
    """What the rules say of a text. What of other files they ask is noted in ``asked``."""
    ast_tree, refusal = check_syntax(text)
    stopped = _stopped(text, ast_tree, refusal)
    if stopped is not None:
        return Said(refusal=stopped)
    from devlint.pipeline.surroundings import Around
    from devlint.source.bare.nodes import NeedsLayout, reading_bare_nodes
    from devlint.source.bare.parts import BareParts
    from devlint.source.outline import outline_of

    outline = outline_of(ast_tree) if ast_tree is not None else None
    around = Around(task, tree, asked)
    if ast_tree is not None and outline is not None:
        try:
            with reading_bare_nodes():
                return _in_two_passes(text, BareParts(text, ast_tree, outline, keeps=True), outline, task, around)
        except NeedsLayout:
            # Some rule asks for what only LibCST's own nodes have.
            pass
    with around.project(bare=False) as project:
        findings = _linted(text, outline, refusal, task, project)
    return _said(findings, around)


def _in_two_passes(text: str, bare: BareParts, outline: Outline, task: FileTask, around: Around) -> Said:
    """Raises NeedsLayout where bare trees do not tell; the AttributeError of a field that they lack says the same."""
    with around.project() as project:
        spoken, alone = _first_pass(text, bare, outline, task, project), project.leads_back
    if alone:
        with around.project(alone) as project:
            spoken = _first_pass(text, bare, outline, task, project)
    if not spoken.paths:
        return Said(watched=around.watched)
    with around.project(alone, spoken_of=spoken.paths) as project:
        findings = _linted(text, outline, None, task, project, spoken)
    return _said(findings, around)


def _said(findings: tuple[Finding, ...] | Refusal, around: Around) -> Said:
    if isinstance(findings, tuple):
        return Said(findings, watched=around.watched)
    return Said(refusal=findings)


def _stopped(text: str, tree: ast.Module | None, refusal: Refusal | None) -> Refusal | None:
    """Why LibCST need not, or must not, be asked."""
    return refusal if refusal is not None and refusal.final else too_deep(text, tree)


def _why(by_libcst: Refusal, by_ast: Refusal | None) -> Refusal:
    """Which of two refusals is told: ast tells the place and the reason better."""
    if by_ast is not None and by_ast.syntax and by_libcst.syntax:
        return by_ast
    if by_ast is None and by_libcst.syntax:
        # A syntax error only if ast gave up for depth, else our own shortcoming.
        return replace(by_libcst, syntax=False, message="LibCST does not understand its syntax")
    return by_libcst


@dataclass(frozen=True, slots=True)
class _Spoken:
    """What the rules have something to say of."""

    bare: BareParts
    """The file that is linted, as they read it."""
    paths: frozenset[str]
    """Files."""
    definitions: frozenset[int]
    """Of the file that is linted, by their numbers: those that hold a node of some finding."""
    outside: bool
    """Whether what stands outside of its definitions holds one."""


def _first_pass(text: str, bare: BareParts, outline: Outline, task: FileTask, project: Project) -> _Spoken:
    """What the rules have anything to say of."""
    from devlint.placement.declarations.index import index_file
    from devlint.rules.engine import scopes_spoken_of

    index = index_file(bare.skeleton(), outline, bare.definition)
    role, file = _role(task, text), Path(task.path)
    scopes = scopes_spoken_of(bare.skeleton(), task.shown_as, role, project, file, index)
    names = {name for path, name in scopes if path == task.shown_as}
    outside = any(_is_outside(index, name) for name in names)
    return _Spoken(bare, frozenset(path for path, _ in scopes), frozenset(_definitions(index, names)), outside)


def _definitions(index: FileIndex, names: set[str]) -> Iterator[int]:
    """The numbers of definitions around or inside of the scopes of these names."""
    for info in index.functions.values():
        if info.outlined is not None and any(
            _is_in(name, info.qualname) or _is_in(info.qualname, name) for name in names
        ):
            yield info.outlined.number


def _is_outside(index: FileIndex, name: str) -> bool:
    """Whether the scope of that name is none of a definition."""
    outlined = (info.qualname for info in index.functions.values() if info.outlined is not None)
    return not any(_is_in(name, definition) for definition in outlined)


def _is_in(name: str, scope: str) -> bool:
    """Whether ``a.b.c`` is ``a.b`` or inside of it."""
    return f"{name}.".startswith(f"{scope}.")


def _linted(
    text: str,
    outline: Outline | None,
    refusal: Refusal | None,
    task: FileTask,
    project: Project,
    spoken: _Spoken | None = None,
) -> tuple[Finding, ...] | Refusal:
    """What the rules say, with places. What is not ``spoken`` of stays bare."""
    from devlint.placement.declarations.index import index_file
    from devlint.rules.engine import lint_module
    from devlint.source.parts import Parts

    parts = Parts(text, outline)
    tree = parts.skeleton() if spoken is None or spoken.outside else spoken.bare.skeleton()
    if isinstance(tree, Refusal):
        return _why(tree, refusal)

    def read(number: int) -> cst.FunctionDef | None:
        if spoken is None or number in spoken.definitions:
            return parts.definition(number)
        return spoken.bare.definition(number)

    index = index_file(tree, outline, read)
    role, file = _role(task, text), Path(task.path)
    return tuple(lint_module(tree, text, task.shown_as, role, project, file, index, parts.parsed))


def _role(task: FileTask, text: str) -> Role:
    from devlint.source.role import role_of

    return role_of(PurePath(task.in_project), text)


def budget() -> int:
    """Characters of other files beyond which one analysis does not look into further ones."""
    from devlint.placement.project.workspace import MAX_CHARACTERS_READ

    return MAX_CHARACTERS_READ
