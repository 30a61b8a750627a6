"""``devlint check``: which files, which rules, which form."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from devlint.check import Plan, Request, check, plan
from devlint.cli.arguments import comma_separated, per_file_ignores, read_config_options
from devlint.cli.completion import complete_codes
from devlint.cli.report import Destination, write_report
from devlint.cli.sections import SectionedCommand
from devlint.cli.terminal import ProgressBar
from devlint.configuration.codes import UNREADABLE_FILE
from devlint.configuration.config import Configuration, Overrides, Settings
from devlint.configuration.configfile import CONFIDENCES, OUTPUT_FORMATS, SEVERITIES, ConfigurationError, check_values
from devlint.gate.wanted import BaselineUse, Wanted
from devlint.pipeline.result import Result
from devlint.reports.painting import visible, visible_lines
from devlint.reports.summary import counted

if TYPE_CHECKING:
    from devlint.cli.fix import FixOptions

COMMAND_NAMES = ("baseline", "check", "clean", "confirm", "rule")

_LISTS = ("select", "ignore", "extend_select", "exclude", "extend_exclude")


@click.command(
    "check",
    cls=SectionedCommand,
    short_help="Check files and directories; may be left out.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.argument("paths", nargs=-1, type=click.Path(readable=False))
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    shell_complete=complete_codes,
    help="Rules to run: codes, prefixes or ALL, comma separated.",
)
@click.option("--ignore", multiple=True, metavar="CODES", help="Rules not to run.", shell_complete=complete_codes)
@click.option(
    "--extend-select",
    multiple=True,
    metavar="CODES",
    shell_complete=complete_codes,
    help="Rules to run besides the selected ones.",
)
@click.option("--per-file-ignores", multiple=True, metavar="GLOB:CODE", help="Rules not to run on certain files.")
@click.option("--extend-per-file-ignores", multiple=True, metavar="GLOB:CODE", help="Further such rules.")
@click.option("--exclude", multiple=True, metavar="GLOBS", help="What to leave out, instead of the usual directories.")
@click.option("--extend-exclude", multiple=True, metavar="GLOBS", help="What else to leave out.")
@click.option("--force-exclude/--no-force-exclude", default=None, help="Leave out named files too.")
@click.option("--respect-gitignore/--no-respect-gitignore", default=None, help="Leave out what .gitignore names.")
@click.option("--min-severity", type=click.Choice(SEVERITIES), help="The least severity shown.  [default: warning]")
@click.option("--min-confidence", type=click.Choice(CONFIDENCES), help="The least confidence shown.  [default: medium]")
@click.option("--fix/--no-fix", default=None, help="Apply safe fixes.")
@click.option("--unsafe-fixes/--no-unsafe-fixes", default=None, help="With --fix and --diff: unsafe fixes too.")
@click.option("--fix-only/--no-fix-only", default=None, help="Apply fixes, and do not report what is left.")
@click.option("--show-fixes/--no-show-fixes", default=None, help="List what was fixed.")
@click.option("--diff", is_flag=True, help="Show what --fix would change; write nothing. Exit with 1 if there is any.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 also if everything could be fixed.")
@click.option("--output-format", type=click.Choice(OUTPUT_FORMATS), help="The form of the report.  [default: text]")
@click.option("-o", "--output-file", type=click.Path(dir_okay=False), help="Write the report there instead of stdout.")
@click.option("-e", "--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("--statistics", is_flag=True, help="Count the findings by rule instead of showing each.")
@click.option("--show-files", is_flag=True, help="List the files that would be checked, and stop.")
@click.option("--show-settings", is_flag=True, help="Show every setting and where it comes from, and stop.")
@click.option("--ignore-noqa", is_flag=True, help="Show what suppression comments silence.")
@click.option("--add-noqa", is_flag=True, help="Write a # noqa comment for every finding instead of showing it.")
@click.option("-w", "--watch", is_flag=True, help="Check again whenever a file changes.")
@click.option("--no-watch", is_flag=True, hidden=True)
@click.option("--baseline", metavar="FILE", help="Leave out the findings that this file knows.")
@click.option("--write-baseline", is_flag=True, help="Write all findings to the baseline; see devlint baseline.")
@click.option("--diff-base", metavar="REF", help="Show only what is new since HEAD left this branch or commit.")
@click.option("--config", multiple=True, metavar="FILE|KEY=VALUE", help="A configuration file, or one value of it.")
@click.option("-n", "--no-cache", is_flag=True, help="Keep no results, and take none that were kept.")
@click.option("--cache-dir", metavar="DIR", help="Where results are kept.  [default: .devlint_cache in the project]")
@click.option("--isolated", is_flag=True, help="Ignore all configuration files.")
@click.option("--stdin-filename", metavar="PATH", help="The name of what is read from standard input.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes to use.  [default: one for each processor]")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="When to colour.")
@click.option("-q", "--quiet", is_flag=True, help="Findings only: no summary, no progress.")
@click.option("-v", "--verbose", is_flag=True, help="Say what is read, and show tracebacks.")
@click.pass_context
def check_command(context: click.Context, /, paths: tuple[str, ...], **options: Any) -> int:
    """Check files and directories (default: the current directory); - reads standard input.

    Exit code 0: clean. 1: findings. 2: wrong usage or configuration, or a file that could not be analysed.
    """
    cwd = Path.cwd()
    _refuse_contradictions(paths, options)
    if options["watch"] and not options["no_watch"]:
        from devlint.cli.watch import watch

        watch(lambda: _request(paths, options, _overrides(options), cwd), context.obj)
    overrides = _overrides(options)
    request = _request(paths, options, overrides, cwd)
    if options["show_files"]:
        return _show_files(plan(request))
    if options["show_settings"]:
        from devlint.cli.settings import show_settings

        return show_settings(plan(request), overrides, cwd)
    if options["verbose"]:
        _say_configuration(overrides, cwd)
    settings = Configuration(overrides, cwd).for_directory(str(cwd))
    to = Destination(
        output_format=options["output_format"] or settings.output_format,
        file=options["output_file"],
        color=options["color"],
        quiet=options["quiet"],
        statistics=options["statistics"],
        cwd=cwd,
    )
    bar = ProgressBar(sys.stderr, not options["quiet"], os.environ)
    looks = options["add_noqa"] or options["no_watch"] or request.wanted.use is not BaselineUse.READ
    wished = any(options[name] for name in ("fix", "fix_only", "diff")) or settings.fix or settings.fix_only
    if wished and not looks and (fixes := _fixes(options, settings)).any:
        from devlint.cli.fix import fix_files

        fixing, code = fix_files(request, fixes, to, bar, _note)
        _tell(fixing.result, options["verbose"])
        return 0 if code == 1 and options["exit_zero"] else code
    with bar:
        result = check(request, bar.advance)
    _tell(result, options["verbose"])
    if options["add_noqa"]:
        result, failures = _with_comments_written(result, request, options["quiet"])
        if failures or not result.findings:
            return 2 if failures or result.missing else 0
    if request.wanted.use is BaselineUse.PRUNE:
        return _pruned(result)
    write_report(result, to)
    return 0 if result.exit_code == 1 and options["exit_zero"] else result.exit_code


def _fixes(options: dict[str, Any], settings: Settings) -> FixOptions:
    from devlint.cli.fix import FixOptions

    return FixOptions.of(options, settings)


def _tell(result: Result, verbose: bool) -> None:
    """What there is to say besides the findings."""
    for path in result.missing:
        _note(f"no such file or directory: {path}{_hint(path)}")
    for note in (result.nothing, *result.notes):
        if note:
            _note(note)
    for detail in result.details:
        _note("a traceback was kept; show it with -v" if not verbose else f"\n{detail.rstrip()}")


def _refuse_contradictions(paths: tuple[str, ...], options: dict[str, Any]) -> None:
    standard_input = "-" in paths or (options["stdin_filename"] and not paths)
    if standard_input and options["watch"]:
        raise click.UsageError("--watch looks at files, and - reads standard input once")
    if standard_input and options["add_noqa"]:
        raise click.UsageError("--add-noqa writes to files, and - is none")
    writing = [name for name in ("add_noqa", "fix", "fix_only", "diff", "write_baseline") if options[name]]
    if options["watch"] and writing and writing != ["diff"]:
        raise click.UsageError(f"--watch only looks; run --{writing[0].replace('_', '-')} without it")
    if options["add_noqa"] and len(writing) > 1:
        raise click.UsageError("--add-noqa silences what is found; run --fix, --diff and --write-baseline without it")
    if options["write_baseline"]:
        if options["diff_base"] is not None:
            raise click.UsageError("--write-baseline writes all findings, and --diff-base leaves some out")
        if len(writing) > 1:
            raise click.UsageError("--write-baseline is a run of its own; leave --fix and --diff out")


def _overrides(options: dict[str, Any]) -> Overrides:
    """What the options say in the configuration's own words. Raises ConfigurationError."""
    file, values = read_config_options(options["config"])
    if options["isolated"] and file is not None:
        raise ConfigurationError(f"--isolated ignores all configuration files, and --config names {file.path}")
    flags: dict[str, Any] = {}
    for name in _LISTS:
        if options[name]:
            flags[name.replace("_", "-")] = comma_separated(options[name])
    for name in ("force_exclude", "respect_gitignore", "min_severity", "min_confidence", "baseline", "cache_dir"):
        if options[name] is not None:
            flags[name.replace("_", "-")] = options[name]
    for name in ("per_file_ignores", "extend_per_file_ignores"):
        if options[name]:
            key = name.replace("_", "-")
            flags[key] = per_file_ignores(options[name], key)
    check_values(flags, lambda key: f"--{key}: ")
    return Overrides({**values, **flags}, file, options["isolated"])


def _request(paths: tuple[str, ...], options: dict[str, Any], overrides: Overrides, cwd: Path) -> Request:
    stdin: bytes | None = None
    if "-" in paths or (options["stdin_filename"] and not paths):
        if len(paths) > 1:
            raise click.UsageError("- reads standard input and cannot be joined with other paths; a file is ./-")
        stdin = sys.stdin.buffer.read()
    elif options["stdin_filename"]:
        raise click.UsageError("--stdin-filename names what - reads, and no - is among the paths")
    return Request(
        paths=paths or (".",),
        cwd=cwd,
        overrides=overrides,
        ignore_noqa=options["ignore_noqa"],
        jobs=options["jobs"],
        cached=not options["no_cache"],
        stdin=stdin,
        stdin_filename=options["stdin_filename"],
        wanted=_wanted(options),
    )


def _with_comments_written(result: Result, request: Request, quiet: bool) -> tuple[Result, tuple[str, ...]]:
    """The result with what no comment was written for, and which files could not be written."""
    from devlint.fixes.add_noqa import add_noqa

    added = add_noqa(result.findings, request.cwd)
    for failure in added.failures:
        _note(failure)
    if not quiet:
        _note(f"wrote {counted(added.comments, 'noqa comment')} in {counted(added.files, 'file')}")
    return replace(result, findings=added.left), added.failures


def _wanted(options: dict[str, Any]) -> Wanted:
    use: BaselineUse = options.get("baseline_use", BaselineUse.READ)
    if options["write_baseline"]:
        use = BaselineUse.WRITE
    return Wanted(use, options["diff_base"])


def _pruned(result: Result) -> int:
    """A pruning run shows no findings, only what kept it from judging."""
    for finding in result.findings:
        if finding.code == UNREADABLE_FILE:
            _note(f"{finding.place.path}: {finding.message}")
    return 2 if result.exit_code == 2 else 0


def _show_files(planned: Plan) -> int:
    for task in planned.tasks:
        click.echo(visible(task.shown_as))
    for path in planned.found.missing:
        _note(f"no such file or directory: {path}{_hint(path)}")
    if planned.nothing:
        _note(planned.nothing)
    return 2 if planned.found.missing or planned.unreadable else 0


def _say_configuration(overrides: Overrides, cwd: Path) -> None:
    settings = Configuration(overrides, cwd).for_directory(str(cwd))
    origin = ", ".join(str(path) for path in settings.origin) or "defaults only"
    _note(f"configuration of {cwd}: {origin}")


def _hint(path: str) -> str:
    if path in COMMAND_NAMES:
        return f" (the command `{path}` must come first)"
    return ""


def _note(message: str) -> None:
    click.echo(f"devlint: {visible_lines(message)}", err=True)
