"""``devlint confirm``: what to run, where, and within which limits."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from devlint.check import Request
from devlint.cli.arguments import comma_separated, read_config_options
from devlint.cli.report import Destination, write_report
from devlint.configuration.config import Configuration, Overrides, Settings
from devlint.configuration.configfile import CONFIDENCES, OUTPUT_FORMATS, SEVERITIES, ConfigurationError, check_values
from devlint.reports.document import MACHINE_FORMATS

if TYPE_CHECKING:
    from devlint.confirm import ConfirmRequest, Progress
    from devlint.pipeline.result import EntryRun
    from devlint.runtime.entries import Entry
    from devlint.runtime.isolation import Run
    from devlint.runtime.job import Job

_LISTS = ("select", "ignore", "extend_select", "exclude", "extend_exclude")
_SIZES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class ScriptCommand(click.Command):
    """What follows ``--`` is the script's own, not a path."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta["script_arguments"] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)


@click.command(
    "confirm",
    cls=ScriptCommand,
    short_help="Run the program, and say of each finding whether it is so.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.argument("paths", nargs=-1)
@click.option(
    "--entry", multiple=True, metavar="MODULE:NAME", help="A function that returns (model, inputs) or a step."
)
@click.option("--model", metavar="MODULE:CLASS", help="A class to build with --init and to call with all --input.")
@click.option("--init", default="", metavar="ARGUMENTS", help="Literal arguments of the class: 'hidden=8, bias=False'.")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="VALUE",
    help="One argument of the call: 'float32[4,16]'; 'int64[4]{0..9}', values from 0 to 9; 'mask=bool[4]', by name; "
    "'batch.pt', 'batch.npz:ids', '*batch.pt', '**batch.pt', from a file; 'causal=True', a literal.",
)
@click.option("--script", metavar="FILE", help="A script to run; its arguments follow after --.")
@click.option(
    "--auto",
    is_flag=True,
    help="Build what can be built without being told: the modules with findings, and those of named files.",
)
@click.option(
    "--device",
    default="auto",
    metavar="DEVICE",
    help="auto, cuda, cuda:N, sim, sim:N, sim-xpu, sim-mps.  [default: auto]",
)
@click.option("--placements", default="auto", metavar="NAMES", help="auto, all, or some of first,second,cpu.")
@click.option("--train", is_flag=True, help="Also backward from the sum of the float outputs, and an optimizer step.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    metavar="SECONDS",
    help="Time for each run.  [default: 600]",
)
@click.option("--memory-limit", metavar="SIZE", help="Memory for each run: 800M, 4G.")
@click.option("--no-repair", is_flag=True, help="Stop at the first clash instead of noting it and going on.")
@click.option("--record", type=click.Path(dir_okay=False), help="Keep everything that was observed, as JSON lines.")
@click.option("--select", multiple=True, metavar="CODES", help="Rules to run: codes, prefixes or ALL, comma separated.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Rules not to run.")
@click.option("--extend-select", multiple=True, metavar="CODES", help="Rules to run besides the selected ones.")
@click.option("--exclude", multiple=True, metavar="GLOBS", help="What to leave out, instead of the usual directories.")
@click.option("--extend-exclude", multiple=True, metavar="GLOBS", help="What else to leave out.")
@click.option("--min-severity", type=click.Choice(SEVERITIES), help="The least severity shown.  [default: warning]")
@click.option(
    "--min-confidence",
    type=click.Choice(CONFIDENCES),
    help="The least confidence shown, but for what is confirmed.  [default: medium]",
)
@click.option("--output-format", type=click.Choice(OUTPUT_FORMATS), help="The form of the report.  [default: text]")
@click.option("-o", "--output-file", type=click.Path(dir_okay=False), help="Write the report there instead of stdout.")
@click.option("--config", multiple=True, metavar="FILE|KEY=VALUE", help="A configuration file, or one value of it.")
@click.option("--isolated", is_flag=True, help="Ignore all configuration files.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes to use for the check that comes first.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="When to colour.")
@click.option("-q", "--quiet", is_flag=True, help="Findings only: no summary, no progress.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Show what the program prints, and findings that nothing that ran came near."
)
@click.pass_context
def confirm_command(context: click.Context, /, paths: tuple[str, ...], **options: Any) -> int:
    """Run the program on real or simulated accelerators, and say of every finding whether it is so.

    A finding is confirmed (its effect was seen), refuted (it ran wherever its rule wants and nothing happened),
    inconclusive, or not reached.

    Exit code 0: nothing was confirmed, and something ran on the device. 1: something was confirmed, or found by the
    run itself. 2: it could not run, or nothing reached the device.
    """
    from devlint.confirm import confirm
    from devlint.runtime.inputs import BadEntry

    cwd = Path.cwd()
    try:
        request = _request(paths, options, context.meta.get("script_arguments"), cwd)
    except BadEntry as error:
        raise click.UsageError(str(error)) from None
    settings = _settings(request.check.overrides, cwd)
    form = options["output_format"] or settings.output_format
    # The report itself begins with why an entry failed, if it is one for people and comes after.
    leads = form not in MACHINE_FORMATS and not options["output_file"]
    result, runs = confirm(request, _progress(options, leads))
    if request.rank is not None and not request.rank.reports:
        return 0  # the launcher would stop the others for any other code
    for path in result.missing:
        _note(f"no such file or directory: {path}")
    if result.nothing:
        _note(result.nothing)
    for entry in () if options["quiet"] else result.entries[len(runs) :]:
        _note(f"{entry.entry}: {entry.state}: {entry.reason}")
    if options["record"]:
        _keep(runs, options["record"])
    write_report(
        result,
        Destination(
            output_format=form,
            file=options["output_file"],
            color=options["color"],
            quiet=options["quiet"],
            statistics=False,
            cwd=cwd,
            far=options["verbose"] or options["quiet"],
        ),
    )
    # What was told of an entry already is not told again.
    if result.not_run and (options["quiet"] or not any(_is_about(result.not_run, entry) for entry in result.entries)):
        _note(result.not_run)
    return result.exit_code


def _request(
    paths: tuple[str, ...], options: dict[str, Any], script_arguments: tuple[str, ...] | None, cwd: Path
) -> ConfirmRequest:
    """Raises BadEntry and ConfigurationError."""
    from devlint.confirm import ConfirmRequest
    from devlint.runtime.inputs import BadEntry
    from devlint.runtime.placements import parse_device, parse_placements
    from devlint.runtime.ranks import current

    overrides = _overrides(options)
    if script_arguments is not None and not options["script"]:
        raise BadEntry("what follows -- belongs to a script, and no --script is given")
    entries = _named_entries(options, script_arguments or ()) or _configured_entries(_settings(overrides, cwd))
    if not entries and not options["auto"]:
        raise BadEntry(
            "nothing to run: give --entry module:build, --model, --script or --auto, or [[tool.devlint.entries]]"
        )
    rank = current(os.environ)
    wish = parse_device(options["device"])
    return ConfirmRequest(
        rank=rank,
        check=Request(paths=paths or (".",), cwd=cwd, overrides=overrides, jobs=options["jobs"]),
        entries=entries,
        auto=options["auto"],
        wish=wish if rank is None else replace(wish, index=wish.index + rank.local),
        placements=parse_placements(options["placements"]),
        train=options["train"],
        repair=not options["no_repair"],
        timeout=options["timeout"],
        memory=_bytes(options["memory_limit"]),
    )


def _named_entries(options: dict[str, Any], script_arguments: tuple[str, ...]) -> tuple[Entry, ...]:
    from devlint.runtime import entries
    from devlint.runtime.inputs import BadEntry

    named = [entries.built(target) for target in options["entry"]]
    if options["model"]:
        named.append(entries.model(options["model"], options["init"], options["inputs"]))
    elif options["init"] or options["inputs"]:
        raise BadEntry("--init and --input say how --model is built and called, and no --model is given")
    if options["script"]:
        named.append(entries.script(options["script"], script_arguments))
    return tuple(named)


def _configured_entries(settings: Settings) -> tuple[Entry, ...]:
    from devlint.runtime import entries

    where = f"{settings.origin[-1]}: " if settings.origin else ""
    return tuple(entries.configured(table, where) for table in settings.entries)


def _overrides(options: dict[str, Any]) -> Overrides:
    """What the options say in the configuration's own words. Raises ConfigurationError."""
    file, values = read_config_options(options["config"])
    if options["isolated"] and file is not None:
        raise ConfigurationError(f"--isolated ignores all configuration files, and --config names {file.path}")
    flags: dict[str, Any] = {name.replace("_", "-"): comma_separated(options[name]) for name in _LISTS if options[name]}
    for name in ("min_severity", "min_confidence"):
        if options[name] is not None:
            flags[name.replace("_", "-")] = options[name]
    check_values(flags, lambda key: f"--{key}: ")
    return Overrides({**values, **flags}, file, options["isolated"])


def _settings(overrides: Overrides, cwd: Path) -> Settings:
    return Configuration(overrides, cwd).for_directory(str(cwd))


def _bytes(text: str | None) -> int | None:
    from devlint.runtime.inputs import BadEntry

    if text is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgt]?)(?:i?b)?", text.strip().lower())
    if match is None or not float(match[1]):
        raise BadEntry(f"--memory-limit {text}: expected a size such as 800M or 4G")
    return int(float(match[1]) * _SIZES[match[2]])


def _progress(options: dict[str, Any], leads: bool) -> Progress:
    from devlint.confirm import Progress

    if options["quiet"]:
        return Progress()

    def starts(job: Job) -> None:
        if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            click.echo(
                f"devlint: running {job.entry.name} on {job.wish.device(job.placement)} ...\r", err=True, nl=False
            )

    def ended(run: Run) -> None:
        simulated = " (simulated)" if run.simulated else ""
        told = run.reason and not (leads and run.failed_by_itself)
        reason = f": {run.reason}" if told else ""
        _note(f"{run.job.entry.name} on {run.device}{simulated}: {run.state.replace('-', ' ')}{reason}")
        for note in run.notes:
            _note(note)
        if options["verbose"] and run.output:
            click.echo(run.output, err=True)

    return Progress(starts, ended)


def _is_about(reason: str, entry: EntryRun) -> bool:
    return reason in (f"{entry.entry} on {entry.device}: {entry.reason}", f"{entry.entry}: {entry.reason}")


def _keep(runs: tuple[Run, ...], path: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for run in runs for line in run.lines)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None


def _note(message: str) -> None:
    click.echo(f"devlint: {message}", err=True)
