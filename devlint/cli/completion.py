"""What a shell offers behind TAB. Click writes the shells' scripts; here are the answers that are devlint's own."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from devlint.configuration.codes import all_codes


def complete_codes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes that begin with the last of some comma separated ones."""
    before, comma, last = incomplete.rpartition(",")
    return [
        CompletionItem(before + comma + rule.code, help=rule.name)
        for rule in all_codes().values()
        if rule.code.startswith(last.upper())
    ]


def complete_rule(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes, or names for who begins with one."""
    codes = complete_codes(context, parameter, incomplete)
    names = [rule for rule in all_codes().values() if incomplete and rule.name.startswith(incomplete)]
    return codes + [CompletionItem(rule.name, help=rule.code) for rule in names]


def complete_default(group: click.Group, default: str, context: click.Context, incomplete: str) -> list[CompletionItem]:
    """Besides its commands, what the command that may be left out begins with: its options, or a path."""
    if not incomplete.startswith("-"):
        # First in line, or bash would forget the names of commands over it.
        return [CompletionItem(incomplete, type="file")]
    command = group.get_command(context, default)
    if command is None:
        return []
    with command.make_context(default, [], parent=context, resilient_parsing=True) as inner:
        return command.shell_complete(inner, incomplete)
