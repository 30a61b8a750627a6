"""Stage: the cells of a notebook. Its text is all of them joined; people count lines by cell."""

from __future__ import annotations

from dataclasses import replace

from devlint.configuration.codes import SYNTAX_ERROR
from devlint.finding import Finding, Place
from devlint.pipeline.own_findings import own_finding
from devlint.pipeline.task import FileReport, FileTask
from devlint.source.decoding import Source
from devlint.source.source_file import as_notebook


def broken_cells(source: Source, task: FileTask) -> list[Finding]:
    """A syntax error (DEV901) for each cell that is no Python; none for a file without cells."""
    notebook = as_notebook(source)
    broken = notebook.broken if notebook is not None else ()
    return [own_finding(SYNTAX_ERROR, task.shown_as, cell.message, cell.line, cell.column) for cell in broken]


def with_cells(report: FileReport, source: Source) -> FileReport:
    """The report with its places in this file counted by cell; the same report for a file without cells."""
    notebook = as_notebook(source)
    if notebook is None:
        return report

    def in_cell(place: Place) -> Place:
        return notebook.placed(place) if place.path == report.shown_as else place

    return replace(
        report,
        findings=tuple(
            replace(
                finding,
                place=in_cell(finding.place),
                related_lines=tuple(in_cell(Place(report.shown_as, n, 1, n, 1)).line for n in finding.related_lines),
                trace=tuple(replace(step, place=in_cell(step.place)) for step in finding.trace),
            )
            for finding in report.findings
        ),
    )
