"""The ``devlint`` program: its commands, and the one place where an exception becomes an exit code."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import click

from devlint import __version__
from devlint.cli.interrupts import INTERRUPTED, TERMINATED, code_of, ended_by_signals
from devlint.cli.terminal import forget_stdout
from devlint.configuration.complaint import Complaint

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

GARBAGE_THRESHOLD = 100_000
"""Objects made before the collector looks for cycles among the youngest; Python begins with 700."""

_NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC))
"""What writing to a full disk comes to."""

DEFAULT_COMMAND = "check"


COMMANDS = {
    name: f"devlint.cli.{name}" for name in ("baseline", "check", "clean", "confirm", "explain", "rule", "server")
}
"""The module of each command, imported when the command is wanted."""


class DefaultGroup(click.Group):
    """Commands, of which ``check`` may be left out: what does not begin with a command's name is its arguments."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = getattr(import_module(COMMANDS[cmd_name]), f"{cmd_name}_command")
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own_options = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        if ctx.resilient_parsing and not args:  # a shell asks what may come first
            return super().parse_args(ctx, args)
        if not args or (args[0] not in COMMANDS and args[0] not in own_options):
            args = [DEFAULT_COMMAND, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from devlint.cli.completion import complete_default

        offered = complete_default(self, DEFAULT_COMMAND, ctx, incomplete) + super().shell_complete(ctx, incomplete)
        return list({(item.value, item.type): item for item in offered}.values())


@click.group(cls=DefaultGroup, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
@click.version_option(__version__, "-V", "--version", message="devlint %(version)s")
def app() -> None:
    """Find the bugs that appear when a PyTorch program leaves the CPU.

    `devlint [PATHS]` is short for `devlint check [PATHS]`; its options are listed by `devlint check --help`.
    A file or directory named like a command is reached as ./check.
    """


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the program and leave with its exit code."""
    # Modules and reports stay: to go through them every 700 objects is a twentieth of a short run.
    gc.set_threshold(GARBAGE_THRESHOLD)
    code = ended_by_signals(lambda: run(sys.argv[1:] if arguments is None else arguments))
    if code in (INTERRUPTED, TERMINATED):
        # An analysis may still be running in native code, which the interpreter's orderly end would abort with a crash.
        sys.stderr.flush()
        os._exit(code)
    # Python ends by looking for cycles among all there is, some times over: of trees and modules that is a quarter of a
    # second, and the memory goes with the process.
    gc.freeze()
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
    except OSError as error:
        forget_stdout()
        return _complain(f"cannot write to standard output: {(error.strerror or str(error)).lower()}")
    return code


def _run(arguments: list[str]) -> int:
    try:
        expanded = arguments
        if any(argument.startswith("@") for argument in arguments):
            from devlint.cli.arguments import expand_argument_files

            expanded = expand_argument_files(arguments)
        code = app.main(expanded, prog_name="devlint", standalone_mode=False, obj=expanded)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        from devlint.reports.painting import visible_lines

        told = io.StringIO()
        error.show(told)
        click.echo(visible_lines(told.getvalue()), err=True, nl=False)
        return 2
    except Complaint as error:
        return _complain(str(error))
    except (KeyboardInterrupt, click.Abort) as error:
        interrupt = _interrupt_behind(error)
        return INTERRUPTED if interrupt is None else code_of(interrupt)
    except BrokenPipeError:
        forget_stdout()
        return 0
    except OSError as error:
        if error.filename is not None or error.errno not in _NO_ROOM:
            return _fail(error)
        forget_stdout()
        return _complain(f"cannot write to standard output: {(error.strerror or str(error)).lower()}")
    except Exception as error:
        # Before 3.12 what is raised while a class is made comes as a RuntimeError.
        interrupt = _interrupt_behind(error)
        return _fail(error) if interrupt is None else code_of(interrupt)


def _interrupt_behind(error: BaseException | None) -> KeyboardInterrupt | None:
    """The interrupt that an exception is, or that it was raised from."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error


def _fail(error: Exception) -> int:
    _complain(f"internal error: {type(error).__name__}: {error}; please report this with what follows")
    import traceback

    traceback.print_exception(error)
    return 2


def _complain(message: str) -> int:
    from devlint.reports.painting import visible_lines

    click.echo(f"devlint: {visible_lines(message)}", err=True)
    return 2
