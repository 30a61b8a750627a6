"""``devlint explain``: what devlint holds the expressions of a line to be, and why it knows no more."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import click

from devlint.cli.terminal import wants_color, width_of
from devlint.configuration.config import Overrides

_PLACE = re.compile(r"(?P<path>.+?):(?P<line>[0-9]{1,9})(?::(?P<column>[0-9]{1,9}))?")


@click.command(
    "explain",
    short_help="Say what is known of the values of a line.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.argument("place", metavar="FILE:LINE[:COLUMN]")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", help="The form of the answer.")
@click.option("--isolated", is_flag=True, help="Read no configuration file.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="When to colour.")
def explain_command(place: str, output_format: str, isolated: bool, color: str) -> None:
    """Say what devlint holds each expression of a line to be, where its value comes from, and why it knows no more.

    For those who wonder at a finding, or that there is none. With a COLUMN, the expressions that it is in, the
    innermost first.
    """
    from devlint.explain import ExplainRequest, explain
    from devlint.reports.explained import explained_json, explained_lines
    from devlint.reports.painting import paint
    from devlint.reports.source_lines import SourceLines

    path, line, column = _parsed(place)
    cwd = Path.cwd()
    found = explain(ExplainRequest(path, line, column, cwd, Overrides({}, None, isolated)))
    if output_format == "json":
        sys.stdout.write(explained_json(found))
        return
    lines = list(explained_lines(found, SourceLines(cwd, {}), width_of(sys.stdout, os.environ)))
    sys.stdout.write(paint(lines, wants_color(color, sys.stdout, os.environ)))


def _parsed(place: str) -> tuple[str, int, int | None]:
    match = _PLACE.fullmatch(place)
    if match is None:
        raise click.UsageError("the place is FILE:LINE or FILE:LINE:COLUMN, as findings show it")
    line, column = int(match["line"]), int(match["column"]) if match["column"] else None
    if line < 1 or column == 0:
        raise click.UsageError("lines and columns are counted from 1")
    return match["path"], line, column
