"""Where a result goes, and in which form."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

import click

from devlint.cli.terminal import forget_stdout, wants_color, width_of
from devlint.pipeline.result import Result
from devlint.reports.document import MACHINE_FORMATS
from devlint.reports.painting import Line, paint
from devlint.source.reading import reason
from devlint.source.writing import write_atomically


@dataclass(frozen=True, slots=True)
class Destination:
    """What is written and how."""

    output_format: str
    file: str | None
    color: str
    quiet: bool
    statistics: bool
    cwd: Path
    on_stderr: bool = False
    """Without a file the report goes to standard error, as standard output holds something else."""
    far: bool = True
    """Whether what nothing in a confirming run came near is shown too, and not only counted."""

    @property
    def stream(self) -> TextIO | None:
        """Where the report is read as it is written; None for a file."""
        return None if self.file else sys.stderr if self.on_stderr else sys.stdout


def write_report(result: Result, to: Destination) -> None:
    """Write the report; the counts of a form that is one line a finding go to standard error."""
    if to.output_format in MACHINE_FORMATS:
        _write_document(result, to)
        return
    color = wants_color(to.color, to.stream, os.environ)
    lines = _lines(result, to, width_of(to.stream, os.environ))
    summary = _summary(result, to)
    inline = to.output_format in ("text", "full") and not to.statistics
    write_document(paint([*lines, *(summary if inline else [])], color), to)
    if not inline:
        _say(summary, to)


def _write_document(result: Result, to: Destination) -> None:
    if to.statistics:
        if to.output_format != "json":
            raise click.UsageError(f"--statistics counts in text or in JSON, not in {to.output_format}")
        from devlint.reports.summary import statistics_json

        write_document(statistics_json(result.findings), to)
        return
    from devlint.reports.machine import document

    made = document(to.output_format, result, to.cwd, os.environ)
    write_document(made.text, to)
    for remark in made.remarks:
        click.echo(f"devlint: {remark}", err=True)
    if made.step_summary:
        _append(made.step_summary, os.environ["GITHUB_STEP_SUMMARY"])
    if to.output_format == "github":
        _say(_summary(result, to), to)


def _summary(result: Result, to: Destination) -> list[Line]:
    if to.quiet or not result.files:
        return []
    from devlint.reports.summary import fixable_line, summary_line

    fixable = fixable_line(result.findings)
    far = _far(result) if result.confirming and not to.far else []
    return [*far, summary_line(result), *([fixable] if fixable else [])]


def _far(result: Result) -> list[Line]:
    from devlint.reports.not_reached import far_line, is_far

    far = [finding for finding in result.findings if is_far(finding)]
    return [far_line(far)] if far else []


def _say(lines: list[Line], to: Destination) -> None:
    sys.stderr.write(paint(lines, wants_color(to.color, sys.stderr, os.environ)))


def _lines(result: Result, to: Destination, width: int | None) -> list[Line]:
    if result.confirming:
        return [*_failures(result, to, width), *_listed(_near(result, to), to, width)]
    return _listed(result, to, width)


def _failures(result: Result, to: Destination, width: int | None) -> list[Line]:
    """What no entry came to lead the report: it is why there may be no verdicts in it."""
    if not any(entry.own_failure for entry in result.entries):
        return []
    from devlint.reports.entries import failure_lines
    from devlint.reports.source_lines import SourceLines

    return list(failure_lines(result.entries, SourceLines(to.cwd, result.texts), width))


def _near(result: Result, to: Destination) -> Result:
    if to.far:
        return result
    from devlint.reports.not_reached import is_far

    return replace(result, findings=tuple(finding for finding in result.findings if not is_far(finding)))


def _listed(result: Result, to: Destination, width: int | None) -> list[Line]:
    if not result.findings:
        return []
    if to.statistics:
        from devlint.reports.summary import statistics_lines

        return list(statistics_lines(result.findings))
    if to.output_format == "grouped":
        from devlint.reports.grouped import grouped_lines

        return list(grouped_lines(result.findings))
    if to.output_format == "concise":
        from devlint.reports.concise import concise_lines

        return list(concise_lines(result.findings))
    from devlint.reports.source_lines import SourceLines
    from devlint.reports.text import text_lines

    return list(text_lines(result.findings, SourceLines(to.cwd, result.texts), width))


def write_document(document: str, to: Destination) -> None:
    """To the file, or to standard output; who closed the pipe has read enough."""
    if to.file is None:
        try:
            stream = to.stream or sys.stdout
            stream.write(document)
            stream.flush()
        except BrokenPipeError:
            forget_stdout()
        except OSError as error:
            forget_stdout()
            raise click.ClickException(f"cannot write the report: {reason(error)}") from None
        return
    try:
        write_atomically(Path(to.file), document.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise click.ClickException(f"cannot write {to.file}: {(error.strerror or str(error)).lower()}") from None


def _append(text: str, file: str) -> None:
    """To the page of the job, to which other programs of the step add too. The run does not fail for want of it."""
    try:
        with open(file, "a", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        click.echo(f"devlint: cannot write {file}: {(error.strerror or str(error)).lower()}", err=True)
