"""Paths inside of findings, named so that they mean the same in every checkout and from every working directory.

While a file is analysed, a path in what is said of it is a *symbol*: the way from the directory that its project's
paths are counted from, between two null characters, which no Python text holds. Only what is shown has real paths.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from devlint.finding import Edit, Finding, Fix, Place, TraceStep
from devlint.pipeline.task import FileReport, FileTask
from devlint.source.project import shown_path

_SYMBOL = re.compile("\0([^\0]*)\0")


def symbol_of(path: str, base: str) -> str:
    """The symbol of an absolute path."""
    return f"\0{relative(path, base)}\0"


def relative(path: str, base: str) -> str:
    """An absolute path counted from an absolute directory, with forward slashes."""
    start = base if base.endswith(os.sep) else base + os.sep
    found = path[len(start) :] if path.startswith(start) else os.path.relpath(path, base)
    return found.replace(os.sep, "/")


def absolute(name: str, base: str) -> str:
    """The path that a symbol's name means."""
    return os.path.normpath(os.path.join(base, name))


def symbolic(task: FileTask) -> FileTask:
    """The same task with a symbol for its path in findings."""
    return replace(task, shown_as=symbol_of(task.path, task.base))


def shown(report: FileReport, task: FileTask) -> FileReport:
    """A symbolic report as the run that wants it shows it."""
    own, base = relative(task.path, task.base), task.base

    def name(found: str) -> str:
        return task.shown_as if found == own else shown_path(absolute(found, base), task.cwd or os.getcwd())

    def names(text: str) -> str:
        return _SYMBOL.sub(lambda match: name(match[1]), text) if "\0" in text else text

    if not report.findings and not report.below_gate:
        return replace(report, shown_as=task.shown_as)
    return replace(
        report,
        shown_as=task.shown_as,
        findings=tuple(_renamed(finding, names) for finding in report.findings),
        below_gate=tuple(_renamed(finding, names) for finding in report.below_gate),
    )


def _renamed(finding: Finding, names: Callable[[str], str]) -> Finding:
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
        trace=tuple(TraceStep(place(step.place), names(step.message), step.device) for step in finding.trace),
        fix=None if fix is None else Fix(fix.applicability, names(fix.message), tuple(map(edit, fix.edits))),
    )


def files_told(findings: Iterable[Finding]) -> Iterator[str]:
    """The names of the files at places of which something is said, or which an edit would change."""
    for finding in findings:
        places = [finding.place.path, *(step.place.path for step in finding.trace)]
        places += [edit.path for edit in (finding.fix.edits if finding.fix else ()) if edit.path]
        for path in places:
            match = _SYMBOL.fullmatch(path)
            if match is not None:
                yield match[1]


def quotes_comment(findings: Iterable[Finding]) -> bool:
    """Whether the words of a finding may hold a comment, by the sign of one."""
    return any(
        "#" in text
        for finding in findings
        for text in (
            finding.message,
            finding.help,
            finding.snippet,
            finding.fix.message if finding.fix else "",
            *(step.message for step in finding.trace),
        )
    )
