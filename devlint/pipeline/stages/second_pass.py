"""Stage: the second pass of the rules: the findings with their places.

LibCST reads the scopes in which the first pass met a finding, since places and edits need every blank of them; the rest
of the file stays bare. What the rules said of bare nodes holds for LibCST's at the same places of the text, unless it
depends on their layout: only then are the rules asked again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from devlint.pipeline.lint_result import LintResult
from devlint.pipeline.stages.parsing import better_refusal
from devlint.source.gate import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    import libcst as cst

    from devlint.finding import Finding
    from devlint.pipeline.stages.first_pass import FindingScopes
    from devlint.pipeline.stages.parsing import Parsed
    from devlint.pipeline.task import FileTask
    from devlint.pipeline.workspaces import Workspaces
    from devlint.placement.project.workspace import WorkspaceView
    from devlint.source.lazy_parser import LazyParser
    from devlint.source.part import Part


def second_pass(parsed: Parsed, scopes: FindingScopes | None, task: FileTask, workspaces: Workspaces) -> LintResult:
    """The lint result. ``scopes`` is what the first pass found; where it is None, LibCST reads the whole file."""
    if parsed.blocked:
        return LintResult(refusal=parsed.refusal)
    from devlint.source.lazy_parser import LazyParser

    if scopes is not None:
        from devlint.source.bare.nodes import NeedsLayout, reading_bare_nodes

        if not scopes.files:
            return _result((), scopes, workspaces)
        if scopes.findings is not None:
            return _result(scopes.findings, scopes, workspaces)
        placed = _placed(parsed, scopes, task)
        if placed is not None:
            return _result(placed, scopes, workspaces)
        parser = LazyParser(parsed.text, parsed.outline)
        tree = parser.skeleton() if scopes.module_level else scopes.bare.skeleton()
        if isinstance(tree, Refusal):
            return LintResult(refusal=better_refusal(tree, parsed.refusal))
        try:
            with reading_bare_nodes(), workspaces.open(scopes.isolated, with_findings=scopes.files) as project:
                found = _findings(parsed, tree, parser, scopes, task, project)
            return _result(found, scopes, workspaces)
        except NeedsLayout:
            pass  # a rule reads the layout of a scope without findings
    parser = LazyParser(parsed.text, parsed.outline)
    tree = parser.skeleton()
    if isinstance(tree, Refusal):
        # Before another workspace is opened, which would end the shared one: texts are broken while they are typed.
        return LintResult(refusal=better_refusal(tree, parsed.refusal))
    with workspaces.open(bare=False) as project:
        found = _findings(parsed, tree, parser, None, task, project)
    return _result(found, scopes, workspaces)


def _placed(parsed: Parsed, scopes: FindingScopes, task: FileTask) -> tuple[Finding, ...] | None:
    """The findings of the first pass with their places: LibCST reads these scopes, and its nodes stand for the bare.

    None where what the rules say may depend on more than that: they have to look at LibCST's trees themselves.
    """
    from devlint.pipeline.path_symbols import SYMBOL, absolute, symbol_of
    from devlint.pipeline.stages.display_paths import renamed
    from devlint.rules.engine import findings_of, with_layout
    from devlint.source.bare.nodes import NeedsLayout, reading_bare_nodes
    from devlint.source.lazy_parser import LazyParser

    others: dict[str, Sequence[Part]] = {}
    try:
        with reading_bare_nodes():
            counterparts, whole = scopes.reading.laid_out(scopes.definitions, scopes.module_level)
            for path, met in scopes.others.items():
                parser = LazyParser(met.text, met.outline)
                met.lay_out(parser, counterparts, quoted=True)
                others[path] = parser.parsed
            drafts = with_layout(scopes.drafts, counterparts)
            found = findings_of(drafts, parsed.text, task.shown_as, scopes.reading.parts, whole, others)
    except NeedsLayout:
        return None

    def names(text: str) -> str:
        # The workspace that other files share calls them by their absolute paths.
        return SYMBOL.sub(lambda name: symbol_of(absolute(name[1], task.base), task.base), text)

    return tuple(renamed(finding, names) for finding in found)


def _result(found: tuple[Finding, ...], scopes: FindingScopes | None, workspaces: Workspaces) -> LintResult:
    touches = workspaces.touches_compared_tree
    if scopes is None:
        return LintResult(found, touches_compared_tree=touches)
    return LintResult(found, scopes=scopes.names, leads_back=scopes.leads_back, touches_compared_tree=touches)


def _findings(
    parsed: Parsed,
    tree: cst.Module,
    parser: LazyParser,
    scopes: FindingScopes | None,
    task: FileTask,
    project: WorkspaceView,
) -> tuple[Finding, ...]:
    """What the rules report. What is in none of the ``scopes`` stays bare."""
    from devlint.placement.declarations.index import index_file
    from devlint.rules.engine import lint_module

    def definition(number: int) -> cst.FunctionDef | None:
        if scopes is None or number in scopes.definitions:
            return parser.definition(number)
        return scopes.bare.definition(number)

    index = index_file(tree, parsed.outline, definition)
    found = lint_module(tree, parsed.text, task.shown_as, parsed.role, project, Path(task.path), index, parser.parsed)
    return tuple(found)
