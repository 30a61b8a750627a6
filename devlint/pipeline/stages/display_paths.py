"""Stage: the paths that people see, in the place of path symbols."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from devlint.finding import Edit, Finding, Fix, Place
from devlint.pipeline.path_symbols import SYMBOL, absolute, relative
from devlint.pipeline.task import FileReport, FileTask
from devlint.source.project import shown_path


def display_names(task: FileTask) -> Callable[[str], str]:
    """Puts paths as the run that asks shows them, relative to its working directory, in the place of symbols."""
    own, base = relative(task.path, task.base), task.base

    def name(found: str) -> str:
        return task.shown_as if found == own else shown_path(absolute(found, base), task.cwd or os.getcwd())

    def names(text: str) -> str:
        return SYMBOL.sub(lambda match: name(match[1]), text) if "\0" in text else text

    return names


def with_display_paths(report: FileReport, task: FileTask) -> FileReport:
    """The report with the paths that people see."""
    names = display_names(task)
    if not report.findings and not report.below_gate:
        return replace(report, shown_as=task.shown_as)
    return replace(
        report,
        shown_as=task.shown_as,
        findings=tuple(renamed(finding, names) for finding in report.findings),
        below_gate=tuple(renamed(finding, names) for finding in report.below_gate),
    )


def renamed(finding: Finding, names: Callable[[str], str]) -> Finding:
    """The finding with other paths, of those that ``names`` finds in its texts."""

    def place(found: Place) -> Place:
        return replace(found, path=names(found.path))

    def edit(found: Edit) -> Edit:
        return found if found.path is None else replace(found, path=names(found.path))

    fix = finding.fix
    return replace(
        finding,
        message=names(finding.message),
        help=names(finding.help),
        place=place(finding.place),
        trace=tuple(replace(step, place=place(step.place), message=names(step.message)) for step in finding.trace),
        fix=None if fix is None else Fix(fix.applicability, names(fix.message), tuple(map(edit, fix.edits))),
    )
