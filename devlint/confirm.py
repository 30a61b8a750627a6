"""The runtime pipeline, top to bottom: suspicions, entries, isolated runs, verdicts, what the runs found themselves."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from devlint.check import Plan, Request, check, plan
from devlint.configuration.codes import all_codes
from devlint.configuration.config import Overrides
from devlint.confirmation.auto_entries import auto_entries, named_modules
from devlint.finding import Finding
from devlint.pipeline.outside_findings import suppress_findings
from devlint.pipeline.result import EntryRun, Hidden, Result
from devlint.pipeline.stages.selecting import hidden_by
from devlint.pipeline.task import FileTask
from devlint.runtime.entries import Entry
from devlint.runtime.isolation import Run, run_isolated
from devlint.runtime.job import Job
from devlint.runtime.nursery import Nursery
from devlint.runtime.placements import Placement, Wish
from devlint.runtime.predictions import prediction_of, wanted
from devlint.runtime.ranks import Rank, gather, hand_over
from devlint.runtime.unforeseen import runtime_findings
from devlint.runtime.verdicts import Unforeseen, judge, place_of
from devlint.runtime.watching import Watchlist
from devlint.source.project import shown_path

LINTERS_OWN = "DEV9"
_RANK_GRACE_SECONDS = 60.0
_NOTHING_TO_BUILD = (
    "--auto builds the modules that have findings, and those of files that are named, and there are none"
)


@dataclass(frozen=True)
class ConfirmRequest:
    """What is to be run, where, and within which limits."""

    check: Request
    entries: tuple[Entry, ...]
    wish: Wish
    auto: bool = False
    placements: tuple[Placement, ...] | None = None
    """None: those that the rules of the findings want."""
    train: bool = False
    repair: bool = True
    timeout: float | None = None
    memory: int | None = None
    rank: Rank | None = None
    """This process's, where a launcher started several."""


@dataclass(frozen=True)
class Progress:
    """Told of each run before it starts and after it ended."""

    starts: Callable[[Job], None] = lambda job: None
    ended: Callable[[Run], None] = lambda run: None


def confirm(
    request: ConfirmRequest, progress: Progress | None = None, nursery: Nursery | None = None
) -> tuple[Result, tuple[Run, ...]]:
    """Settle every suspicion that the entries can reach. The runs come along for whoever keeps their record."""
    started = time.perf_counter()
    cwd = request.check.cwd
    planned = plan(request.check)
    suspected = check(_everything(request.check))
    own = tuple(finding for finding in suspected.findings if finding.code.startswith(LINTERS_OWN))
    suspicions = tuple(finding for finding in suspected.findings if finding not in own)

    entries, skipped = _entries(request, suspicions)
    unasked = _unasked(request, entries)
    entries += unasked
    watch = Watchlist.of(suspicions, cwd)
    jobs = _jobs(request, entries, suspicions, watch, frozenset(unasked))
    # Nobody has asked why a module without findings is not built, unless there is nothing else.
    quiet = frozenset(unasked) if len(unasked) < len(entries) else frozenset()
    told = _but_for(quiet, progress or Progress())
    with nullcontext(nursery) if nursery else Nursery() as home:
        runs = _run(jobs, cwd, told, home)
        runs += _run(_sanitized(runs, suspicions), cwd, told, home)
    runs += _of_other_ranks(request, jobs, runs)
    runs = [run for run in runs if run.state != "skipped" or run.job.entry not in quiet]

    judged, unforeseen = judge(suspicions, runs, watch, _shown(cwd))
    shown, hidden = _gated(tuple(map(_as_grave_as_seen, judged)), planned)
    found, suppressed = _found_by_running(unforeseen, planned, cwd)
    findings = sorted((*own, *shown, *found), key=lambda finding: finding.sort_key)
    result = replace(
        suspected,
        findings=tuple(findings),
        hidden=replace(hidden, suppressed=suspected.hidden.suppressed + suppressed),
        seconds=time.perf_counter() - started,
        confirming=True,
        entries=(*(_told(run, cwd) for run in runs), *skipped),
        not_run=why_nothing_is_settled(runs, skipped) if entries or skipped or not request.auto else _NOTHING_TO_BUILD,
    )
    return result, tuple(runs)


def _but_for(quiet: frozenset[Entry], progress: Progress) -> Progress:
    """What is told of runs, but that one of these entries was skipped."""

    def ended(run: Run) -> None:
        if run.state != "skipped" or run.job.entry not in quiet:
            progress.ended(run)

    return Progress(progress.starts, ended)


def why_nothing_is_settled(runs: Sequence[Run], skipped: Sequence[EntryRun] = ()) -> str:
    """The reason why a run comes to nothing, in one line; empty if all could run and one reached its device."""
    for run in runs:
        if run.failed_by_itself:
            return f"{run.job.entry.name} on {run.device}: {run.reason}"
    # What a device refused has not reached it, and is what was asked about.
    if any((run.reached_device and run.job.placement is not Placement.CPU) or run.device_error for run in runs):
        return ""
    refused = [(run.job.entry.name, run.reason) for run in runs if run.state == "skipped"]
    for name, reason in (*refused, *((told.entry, told.reason) for told in skipped)):
        return f"{name}: {reason}"
    device = runs[0].device if runs else "an accelerator"
    return f"nothing that ran reached {device}" if runs else "there is nothing to run"


def _everything(request: Request) -> Request:
    """The same request with suspicions of low confidence and known ones too: a run may confirm them."""
    values = {**request.overrides.values, "min-confidence": "low", "baseline": ""}
    return replace(request, overrides=Overrides(values, request.overrides.config, request.overrides.isolated))


def _entries(request: ConfirmRequest, suspicions: tuple[Finding, ...]) -> tuple[list[Entry], list[EntryRun]]:
    if not request.auto:
        return list(request.entries), []
    found, refused = auto_entries(suspicions, request.check.cwd)
    device = request.wish.device(Placement.FIRST)
    skipped = [EntryRun(name, device, False, "skipped", reason) for name, reason in refused]
    return [*request.entries, *found], skipped


def _unasked(request: ConfirmRequest, entries: list[Entry]) -> list[Entry]:
    """The modules of the files that were named, without those that are built anyway."""
    if not request.auto:
        return []
    known = {entry.target for entry in entries}
    return [entry for entry in named_modules(request.check.paths, request.check.cwd) if entry.target not in known]


def _jobs(
    request: ConfirmRequest,
    entries: Sequence[Entry],
    suspicions: tuple[Finding, ...],
    watch: Watchlist,
    unasked: frozenset[Entry] = frozenset(),
) -> list[Job]:
    placements = request.placements or wanted({finding.code for finding in suspicions})
    if request.rank is not None and request.placements is None:
        placements = (Placement.FIRST,)  # a launcher's rendezvous serves one meeting of its ranks
    compared = [finding.place for finding in suspicions if prediction_of(finding.code).compares]
    comparisons = tuple(dict.fromkeys(watch.absolute(place) for place in compared))
    return [
        Job(
            entry=entry,
            placement=placement,
            wish=request.wish,
            places=watch.places,
            comparisons=comparisons,
            train=request.train,
            repair=request.repair,
            timeout=request.timeout,
            memory=request.memory,
        )
        for entry in entries
        for placement in placements
        # Nothing is to be settled of what has no finding.
        if request.placements is not None or placement is Placement.FIRST or entry not in unasked
    ]


def _sanitized(runs: Sequence[Run], suspicions: tuple[Finding, ...]) -> list[Job]:
    """The same again for races between streams, in processes of their own, where there is a real device."""
    if not any(prediction_of(finding.code).sanitized for finding in suspicions):
        return []
    return [
        replace(run.job, sanitize=True)
        for run in runs
        if run.state == "ran" and not run.simulated and run.job.placement is Placement.FIRST
    ]


def _run(jobs: list[Job], cwd: Path, progress: Progress, nursery: Nursery) -> list[Run]:
    runs: list[Run] = []
    hopeless: set[str] = set()
    for job in jobs:
        if job.entry.name in hopeless:
            continue
        progress.starts(job)
        run = run_isolated(job, cwd, nursery)
        progress.ended(run)
        runs.append(run)
        # What cannot be built at all, or takes too long, does so on every placement.
        if run.state != "ran" and not run.device_error and job.placement is Placement.FIRST:
            hopeless.add(job.entry.name)
    return runs


def _of_other_ranks(request: ConfirmRequest, jobs: list[Job], runs: list[Run]) -> list[Run]:
    """Rank 0 gathers, the others hand over. A rank that does not come is a run that failed."""
    rank = request.rank
    if rank is None:
        return []
    if not rank.reports:
        hand_over(rank, runs)
        return []
    others, missing = gather(rank, _RANK_GRACE_SECONDS + len(jobs) * (request.timeout or _RANK_GRACE_SECONDS))
    return others + [Run(jobs[0], "failed", f"rank {number} did not report") for number in missing if jobs]


def _as_grave_as_seen(finding: Finding) -> Finding:
    """A confirmed finding with the severity of its rule: what was a warning because it was only suspected."""
    if not finding.is_confirmed:
        return finding
    return replace(finding, severity=max(finding.severity, all_codes()[finding.code].severity))


def _gated(judged: tuple[Finding, ...], planned: Plan) -> tuple[list[Finding], Hidden]:
    """Without what is below the thresholds, unless it was seen to happen."""
    gates = {task.shown_as: task.gate for task in planned.tasks}
    shown: list[Finding] = []
    below = {"confidence": 0, "severity": 0}
    for finding in judged:
        gate = gates.get(finding.place.path)
        by = hidden_by(finding, gate) if gate else ""
        if not by or (by == "confidence" and finding.is_confirmed):
            shown.append(finding)
        else:
            below[by] += 1
    return shown, Hidden(below_severity=below["severity"], below_confidence=below["confidence"])


def _found_by_running(unforeseen: Unforeseen, planned: Plan, cwd: Path) -> tuple[list[Finding], int]:
    """Findings of the runs' own, each held to the selection, thresholds and comments of its file."""
    tasks: dict[str, FileTask] = {os.path.realpath(task.path): task for task in planned.tasks}
    rules = {code: (rule.name, rule.severity) for code, rule in all_codes().items()}
    by_file: dict[str, list[Finding]] = {}
    for finding in runtime_findings(unforeseen, frozenset(tasks), rules, _shown(cwd)):
        by_file.setdefault(os.path.realpath(os.path.join(cwd, finding.place.path)), []).append(finding)
    found: list[Finding] = []
    suppressed = 0
    for path, findings in by_file.items():
        report = suppress_findings(findings, tasks[path])
        found += report.findings
        suppressed += report.suppressed
    return found, suppressed


def _told(run: Run, cwd: Path) -> EntryRun:
    failed = run.failed_by_itself
    place = place_of(run.failed_at, _shown(cwd)) if failed and run.failed_at is not None else None
    return EntryRun(run.job.entry.name, run.device, run.simulated, run.state, run.reason, failed, place)


def _shown(cwd: Path) -> Callable[[str], str]:
    """How paths of frames appear in findings."""
    return lambda path: shown_path(path, str(cwd))
