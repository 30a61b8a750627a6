"""Where a result goes, and in which form."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from devlint.cli.terminal import forget_stdout, wants_color, width_of
from devlint.reports.painting import Line, paint
from devlint.result import Result


@dataclass(frozen=True, slots=True)
class Destination:
    """What is written and how."""

    output_format: str
    file: str | None
    color: str
    quiet: bool
    statistics: bool
    cwd: Path


def write_report(result: Result, to: Destination) -> None:
    """Write the report; the counts of a form that is one line a finding go to standard error."""
    stream = None if to.file else sys.stdout
    color = wants_color(to.color, stream, os.environ)
    width = width_of(stream, os.environ)
    if to.output_format == "json":
        _write(_json(result, to.statistics), to.file)
        return
    from devlint.reports.summary import summary_line

    lines = _lines(result, to, width)
    summary: list[Line] = [] if to.quiet or not result.files else [summary_line(result)]
    inline = to.output_format in ("text", "full") and not to.statistics
    document = paint([*lines, *(summary if inline else [])], color)
    _write(document, to.file)
    if not inline:
        sys.stderr.write(paint(summary, wants_color(to.color, sys.stderr, os.environ)))


def _json(result: Result, statistics: bool) -> str:
    from devlint.reports.json_document import json_document
    from devlint.reports.summary import statistics_json

    return statistics_json(result.findings) if statistics else json_document(result)


def _lines(result: Result, to: Destination, width: int | None) -> list[Line]:
    if not result.findings:
        return []
    if to.statistics:
        from devlint.reports.summary import statistics_lines

        return list(statistics_lines(result.findings))
    if to.output_format == "concise":
        from devlint.reports.concise import concise_lines

        return list(concise_lines(result.findings))
    from devlint.reports.source_lines import SourceLines
    from devlint.reports.text import text_lines

    return list(text_lines(result.findings, SourceLines(to.cwd, result.texts), width))


def _write(document: str, file: str | None) -> None:
    """To the file, or to standard output; who closed the pipe has read enough."""
    if file is None:
        try:
            sys.stdout.write(document)
            sys.stdout.flush()
        except BrokenPipeError:
            forget_stdout()
        return
    try:
        Path(file).write_text(document, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        raise click.ClickException(f"cannot write {file}: {(error.strerror or str(error)).lower()}") from None
