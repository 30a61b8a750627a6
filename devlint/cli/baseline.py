"""``devlint baseline``: the file of known findings written, pruned and shown."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from devlint.cli.check import check_command
from devlint.cli.terminal import wants_color
from devlint.configuration.codes import all_codes
from devlint.configuration.config import Configuration, Overrides
from devlint.gate.baseline_file import DEFAULT_NAME, read_baseline
from devlint.gate.matching import Key
from devlint.gate.wanted import BaselineUse
from devlint.reports.painting import SEVERITY_STYLES, Line, paint, visible
from devlint.source.project import shown_path

_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
_NOT_HERE = ("write_baseline", "diff_base", "add_noqa", "watch", "no_watch")


@click.group("baseline", short_help="Write, show or prune the file of known findings.", context_settings=_HELP)
def baseline_command() -> None:
    """The baseline: a file of known findings, which a run with --baseline does not show.

    Without --baseline FILE these commands take the file that the configuration names, else .devlint-baseline.json.
    """


@click.pass_context
def _write(context: click.Context, /, **options: Any) -> Any:
    """Write down all findings as known.

    What is known of files and rules that this run does not look at stays. Takes the options of `devlint check`.
    """
    return context.invoke(check_command, **options, write_baseline=True)


@click.pass_context
def _prune(context: click.Context, /, **options: Any) -> Any:
    """Remove the entries that stand for no finding any more.

    Entries of files and rules that this run does not look at stay. Takes the options of `devlint check`.
    """
    return context.invoke(check_command, **options, baseline_use=BaselineUse.PRUNE)


for _callback in (_write, _prune):
    _name = _callback.__name__.removeprefix("_")
    _params = [parameter for parameter in check_command.params if parameter.name not in _NOT_HERE]
    baseline_command.add_command(
        click.Command(_name, _HELP, _callback, _params, help=_callback.__doc__),
        _name,
    )


@baseline_command.command("show", context_settings=_HELP)
@click.option("--baseline", "file", metavar="FILE", help="The baseline.")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", help="The form of the list.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="When to colour.")
def show_command(file: str | None, output_format: str, color: str) -> None:
    """List what is known."""
    cwd = Path.cwd()
    overrides = Overrides({"baseline": file} if file else {})
    path = Configuration(overrides, cwd).for_directory(str(cwd)).baseline or cwd / DEFAULT_NAME
    known = read_baseline(path, shown_path(str(path), str(cwd)))
    if output_format == "json":
        fields = [
            {"path": key.path, "scope": key.scope, "code": key.code, "text": key.text, "count": count}
            for key, count in sorted(known.items())
        ]
        click.echo(json.dumps(fields, indent=2))
        return
    sys.stdout.write(paint(_lines(known), wants_color(color, sys.stdout, os.environ)))
    files = len({key.path for key in known})
    total = known.total()
    click.echo(f"{total} known finding{'s' * (total != 1)} in {files} file{'s' * (files != 1)}", err=True)


def _lines(known: Counter[Key]) -> list[Line]:
    """``src/net.py: DEV101 Net.forward: torch.zeros(3)``."""
    lines: list[Line] = []
    for key, count in sorted(known.items()):
        rule = all_codes().get(key.code)
        where = f" {key.scope}:" if key.scope else ""
        lines.append(
            [
                (visible(key.path), "bold"),
                (": ", "dim"),
                (visible(key.code), SEVERITY_STYLES[rule.suspected_as.label] if rule else ""),
                (visible(f"{where} {key.text}"), ""),
                (f" ({count} times)" if count > 1 else "", "dim"),
            ]
        )
    return lines
