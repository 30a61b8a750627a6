"""The ``devlint`` program: its commands, and the one place where an exception becomes an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from typing import NoReturn

import click
from click.shell_completion import CompletionItem

from devlint import __version__
from devlint.cli.arguments import ArgumentFileError, expand_argument_files
from devlint.cli.baseline import baseline_command
from devlint.cli.check import check_command
from devlint.cli.clean import clean_command
from devlint.cli.completion import complete_default
from devlint.cli.confirm import confirm_command
from devlint.cli.rule import rule_command
from devlint.cli.terminal import forget_stdout
from devlint.codes import UnknownCode
from devlint.configfile import ConfigurationError
from devlint.gate.git import GitError

INTERRUPTED = 130

DEFAULT_COMMAND = "check"


class DefaultGroup(click.Group):
    """Commands, of which ``check`` may be left out: what does not begin with a command's name is its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own_options = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        if ctx.resilient_parsing and not args:  # a shell asks what may come first
            return super().parse_args(ctx, args)
        if not args or (args[0] not in self.commands and args[0] not in own_options):
            args = [DEFAULT_COMMAND, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        offered = complete_default(self, DEFAULT_COMMAND, ctx, incomplete) + super().shell_complete(ctx, incomplete)
        return list({(item.value, item.type): item for item in offered}.values())


@click.group(cls=DefaultGroup, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
@click.version_option(__version__, "-V", "--version", message="devlint %(version)s")
def app() -> None:
    """Find the bugs that appear when a PyTorch program leaves the CPU.

    `devlint [PATHS]` is short for `devlint check [PATHS]`; its options are listed by `devlint check --help`.
    A file or directory named like a command is reached as ./check.
    """


app.add_command(baseline_command)
app.add_command(check_command)
app.add_command(clean_command)
app.add_command(confirm_command)
app.add_command(rule_command)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the program and leave with its exit code."""
    code = run(sys.argv[1:] if arguments is None else arguments)
    if code == INTERRUPTED:
        # An analysis may still be running in native code, which the interpreter's orderly end would abort with a crash.
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run the program: 0 clean, 1 findings, 2 usage, configuration or internal error, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        # A file name need not be valid in any encoding; it is shown escaped rather than not at all.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    code = _run(arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
    return code


def _run(arguments: list[str]) -> int:
    try:
        expanded = expand_argument_files(arguments)
        code = app.main(expanded, prog_name="devlint", standalone_mode=False, obj=expanded)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return 2
    except (ConfigurationError, ArgumentFileError, UnknownCode, GitError) as error:
        return _complain(str(error))
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        forget_stdout()
        return 0
    except Exception as error:
        _complain(f"internal error: {type(error).__name__}: {error}; please report this with what follows")
        traceback.print_exc()
        return 2


def _complain(message: str) -> int:
    click.echo(f"devlint: {message}", err=True)
    return 2
