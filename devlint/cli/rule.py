"""``devlint rule``: what a code means, or which codes there are."""

from __future__ import annotations

import json
import os
import sys

import click

from devlint.cli.completion import complete_rule
from devlint.cli.terminal import wants_color, width_of
from devlint.configuration.codes import UnknownCode, all_codes, matching
from devlint.reports.painting import SEVERITY_STYLES, Line, paint
from devlint.rules.registry import RuleInfo


@click.command(
    "rule", short_help="Explain a rule, or list rules.", context_settings={"help_option_names": ["-h", "--help"]}
)
@click.argument("code", required=False, shell_complete=complete_rule)
@click.option("--all", "show_all", is_flag=True, help="List all rules.")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", help="The form of the answer.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="When to colour.")
def rule_command(code: str | None, show_all: bool, output_format: str, color: str) -> None:
    """Explain a rule, by its CODE or its name; with the beginning of codes, or --all, list rules."""
    if (code is None) is not show_all:
        raise click.UsageError("name one rule, or list them with --all")
    found = list(all_codes().values()) if code is None else _named(code)
    single = len(found) == 1 and code is not None
    if output_format == "json":
        fields = [_fields(rule) for rule in found]
        click.echo(json.dumps(fields[0] if single else fields, indent=2))
        return
    colored = wants_color(color, sys.stdout, os.environ)
    if not single:
        sys.stdout.write(paint(_table(found), colored))
    elif colored:
        _render(found[0])
    else:
        click.echo(_page(found[0]))


def _named(name: str) -> list[RuleInfo]:
    by_name = {rule.name: rule for rule in all_codes().values()}
    if name.lower() in by_name:
        return [by_name[name.lower()]]
    try:
        return [all_codes()[code] for code in sorted(matching(name))]
    except UnknownCode as error:
        raise click.UsageError(str(error)) from None


def _fields(rule: RuleInfo) -> dict[str, str]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.label,
        "suspected_as": rule.suspected_as.label,
        "summary": rule.summary,
        "explanation": rule.page,
    }


def _table(rules: list[RuleInfo]) -> list[Line]:
    wide = max(len(rule.name) for rule in rules)
    return [
        [
            (rule.code, SEVERITY_STYLES[rule.suspected_as.label]),
            (f"  {rule.suspected_as.label:<7}  ", ""),
            (f"{rule.name:<{wide}}  ", "bold"),
            (rule.summary, ""),
        ]
        for rule in rules
    ]


def _page(rule: RuleInfo) -> str:
    return f"# {rule.code} {rule.name} ({_severity(rule)})\n\n{rule.page.rstrip()}\n"


def _severity(rule: RuleInfo) -> str:
    if rule.suspected_as is rule.severity:
        return rule.severity.label
    return f"{rule.suspected_as.label}, {rule.severity.label} when confirmed"


def _render(rule: RuleInfo) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    width = min(width_of(sys.stdout, os.environ) or 100, 100)
    Console(force_terminal=True, width=width).print(Markdown(_page(rule)))
