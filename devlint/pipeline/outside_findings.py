"""Findings that were made elsewhere, as by a run, held to the comments and the settings of their file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from devlint.finding import Finding, Place
from devlint.pipeline.stages.edits import with_byte_edits
from devlint.pipeline.stages.fingerprints import fingerprinted
from devlint.pipeline.stages.reading import read
from devlint.pipeline.stages.selecting import select
from devlint.pipeline.stages.suppressing import suppress
from devlint.pipeline.task import FileReport, FileTask
from devlint.source.decoding import Unreadable
from devlint.source.source_file import read_source


def suppress_findings(findings: Iterable[Finding], task: FileTask) -> FileReport:
    """The findings of one file that its comments, the selection and the thresholds leave.

    A comment that suppresses none of them is not reported: the rules did not run. All of them if the file cannot be
    read.
    """
    findings = tuple(findings)
    try:
        source = read_source(task.path, read(task))
    except Unreadable:
        return FileReport(task.shown_as, findings)
    lines = source.text.splitlines()
    quoted = [replace(finding, snippet=finding.snippet or _quoted(finding.place, lines)) for finding in findings]
    found = suppress(fingerprinted(with_byte_edits(quoted, source), task.identity), source, task)
    return select(found, (), source, task)


def _quoted(place: Place, lines: list[str]) -> str:
    """The text of a place with its white space collapsed."""
    text = " ".join(lines[place.line - 1 : place.end_line]) if place.line != place.end_line else ""
    if not text and 0 < place.line <= len(lines):
        text = lines[place.line - 1][place.column - 1 : max(place.end_column, place.column + 1) - 1]
    return " ".join(text.split())
