"""One file, from its bytes to its report: the stages in their order. Runs in a worker process.

Each stage is a function from plain data to plain data in a module of its own. The lint result stands in the middle: a
cache keeps it, since what comes before depends on the files alone and what comes after on the settings too.
"""

from __future__ import annotations

from dataclasses import replace

from devlint.pipeline.failures import crashed, failed, refused
from devlint.pipeline.lint_result import LintResult
from devlint.pipeline.path_symbols import symbolic
from devlint.pipeline.postponed import Postponed
from devlint.pipeline.recording import record_of, record_of_unreadable
from devlint.pipeline.stages.cells import broken_cells, with_cells
from devlint.pipeline.stages.display_paths import with_display_paths
from devlint.pipeline.stages.edits import with_byte_edits
from devlint.pipeline.stages.fingerprints import fingerprinted
from devlint.pipeline.stages.parsing import parse, syntax_alone
from devlint.pipeline.stages.reading import read
from devlint.pipeline.stages.selecting import select
from devlint.pipeline.stages.suppressing import suppress
from devlint.pipeline.task import FileReport, FileTask
from devlint.source.deadline import OutOfTime
from devlint.source.decoding import Source, Unreadable
from devlint.source.dependencies import Dependencies
from devlint.source.screen import may_hold_findings
from devlint.source.source_file import read_source
from devlint.source.tree import WORKING_TREE, Tree


def analyse_file(task: FileTask, tree: Tree = WORKING_TREE) -> FileReport:
    """The report on one file of a tree. Whatever goes wrong becomes its DEV902; only an interrupt gets out.

    Raises Postponed for a file that may wait, if it has to.
    """
    inner = symbolic(task)
    try:
        report = _analysed(inner, tree)
    except (KeyboardInterrupt, SystemExit, OutOfTime, Postponed):
        raise
    except BaseException as error:  # a panic of native code is no Exception
        report = crashed(inner, error)
    return with_display_paths(report, task)


def _analysed(task: FileTask, tree: Tree) -> FileReport:
    dependencies = Dependencies(task.known) if task.recorded else None
    try:
        data = read(task, tree)
    except Unreadable as error:
        return failed(task, error.message, error.line)
    try:
        source = read_source(task.path, data)
    except Unreadable as error:
        report = failed(task, error.message, error.line)
        return (
            report
            if dependencies is None
            else replace(report, record=record_of_unreadable(data, error, dependencies, report))
        )
    result = _linted(source, task, tree, dependencies)
    report = _reported(result, source, task)
    return report if dependencies is None else replace(report, record=record_of(result, source, dependencies, report))


def _linted(source: Source, task: FileTask, tree: Tree, dependencies: Dependencies | None) -> LintResult:
    """From the text to the lint result, which depends on this file and on the files that it imports."""
    if not may_hold_findings(source):
        result = syntax_alone(source.text)
    else:
        # What only a file that names torch needs is imported with the first of them.
        from devlint.pipeline.stages.first_pass import first_pass
        from devlint.pipeline.stages.second_pass import second_pass
        from devlint.pipeline.workspaces import Workspaces

        workspaces = Workspaces(task, tree, dependencies)
        parsed = parse(source.text, task.in_project, task.program)
        scopes = first_pass(parsed, task, workspaces)
        result = second_pass(parsed, scopes, task, workspaces)
    return replace(result, findings=(*result.findings, *broken_cells(source, task)))


def _reported(result: LintResult, source: Source, task: FileTask) -> FileReport:
    """From the lint result to the report, which depends on comments of the file and settings of the task too."""
    if result.refusal is not None:
        report = refused(task, result.refusal)
    else:
        findings = fingerprinted(with_byte_edits(result.findings, source), task.identity)
        found = suppress(findings, source, task)
        unused = fingerprinted(with_byte_edits(found.unused, source), task.identity)
        report = select(found, unused, source, task)
    report = with_cells(report, source)
    return replace(report, touches_compared_tree=result.touches_compared_tree)


def recorded_report(result: LintResult, digest: str, task: FileTask) -> FileReport:
    """The report on a file whose lint result is known already; its paths are symbols.

    Raises ValueError if the file is not the one with that digest.
    """
    inner = symbolic(task)
    try:
        source = read_source(task.path, read(task))
    except Unreadable as error:
        if result.refusal is None:
            raise ValueError(error.message) from None
        return refused(inner, result.refusal)
    if source.digest.hex() != digest:
        raise ValueError("the file has changed")
    return _reported(result, source, inner)
