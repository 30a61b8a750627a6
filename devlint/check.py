"""The static pipeline, top to bottom: paths, files, processes, findings, what is shown and what was hidden."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.configuration.config import Configuration, Overrides
from devlint.finding import Finding
from devlint.gate.novelty import Judgement, Novelty
from devlint.gate.wanted import Wanted
from devlint.pipeline.planning import Planner
from devlint.pipeline.processors import available_processors
from devlint.pipeline.result import Hidden, Result
from devlint.pipeline.task import FileReport, FileTask
from devlint.source.discovery import Discovered, discover, is_excluded
from devlint.source.tree import Tree

if TYPE_CHECKING:
    from devlint.cache.session import Session


@dataclass(frozen=True)
class Request:
    """What is to be checked. ``stdin`` is the content of the one file that has no path."""

    paths: tuple[str, ...]
    cwd: Path
    overrides: Overrides = field(default_factory=Overrides)
    ignore_noqa: bool = False
    jobs: int | None = None
    """None: as many as there are processors."""
    wanted: Wanted = field(default_factory=Wanted)
    """What the findings are held against."""
    cached: bool = False
    """Whether to keep what is found, and to take what was kept."""
    stdin: bytes | None = None
    stdin_filename: str | None = None


@dataclass(frozen=True)
class Plan:
    """The files of a request, before anything is read."""

    tasks: list[FileTask]
    found: Discovered
    unreadable: list[FileReport]
    configuration: Configuration

    @property
    def nothing(self) -> str:
        """Why there is no file to analyse; empty if there is one."""
        if self.tasks or self.unreadable or self.found.missing:
            return ""
        if self.found.excluded:
            return "no file left: all that were found are excluded"
        return "no Python file among the paths"


def plan(request: Request) -> Plan:
    """Find the files and the settings of each. Raises ConfigurationError."""
    configuration = Configuration(request.overrides, request.cwd)
    configuration.for_directory(str(request.cwd))  # a mistake in it is an error even if it governs no file
    if request.stdin is not None:
        return _plan_stdin(request, configuration)
    found = discover(list(request.paths), configuration, request.cwd)
    planner = Planner(configuration, request.cwd, request.ignore_noqa)
    tasks = [planner.task(path) for path in found.files]
    unreadable: list[FileReport] = []
    if found.unreadable:
        from devlint.pipeline.failures import failed

        unreadable += (failed(planner.task(path), reason) for path, reason in sorted(found.unreadable))
    return Plan(tasks, found, unreadable, configuration)


Amend = Callable[[list[FileTask], list[FileReport], tuple[Finding, ...], Tree], list[FileReport]]
"""Given the files, the reports on them, what of it is new, and the tree: the reports after something was done."""


def check(
    request: Request,
    progress: Callable[[int, int], None] = lambda done, total: None,
    amend: Amend | None = None,
) -> Result:
    """Analyse every file and gather the findings. ``progress`` receives how many files of how many are done.

    ``amend`` may change what was found, as fixing does, before it is held against what is known once more.
    Raises ConfigurationError, BaselineError and GitError.
    """
    started = time.perf_counter()
    planned = plan(request)
    jobs = request.jobs or available_processors()
    cache = _cache(request, planned)
    novelty = _novelty(request, planned, jobs, progress, cache)
    tasks, left_out = novelty.prepare(planned.tasks)
    try:
        reports = _reports(tasks, jobs, novelty.tree, cache, progress)
        judgement = novelty.judge(tasks, reports, _named(request, planned))
    finally:
        novelty.cache = None
        if cache is not None:
            cache.close()
    if amend is not None:
        reports = amend(tasks, reports, judgement.new, novelty.tree)
        judgement = novelty.judge(tasks, reports, _named(request, planned))
    reports += planned.unreadable
    findings = (*judgement.new, *(finding for report in planned.unreadable for finding in report.findings))
    return Result(
        findings=tuple(sorted(findings, key=lambda finding: finding.sort_key)),
        files=len(tasks),
        hidden=_hidden(reports, judgement),
        seconds=time.perf_counter() - started,
        missing=tuple(planned.found.missing),
        nothing=planned.nothing,
        notes=(*left_out, *judgement.notes),
        details=tuple(report.detail for report in sorted(reports, key=lambda r: r.shown_as) if report.detail),
        texts={task.shown_as: task.data for task in planned.tasks if task.data is not None},
    )


def _cache(request: Request, planned: Plan) -> Session | None:
    """The cache, if the run is to have one."""
    if not request.cached:
        return None
    from devlint.cache.place import default_directory
    from devlint.cache.session import opened

    configured = planned.configuration.for_directory(str(request.cwd)).cache_dir
    if not planned.tasks or (configured is None and os.path.islink(default_directory(request.cwd))):
        return None  # the project may say by a link where files are to be written
    return opened(configured or default_directory(request.cwd), request.cwd)


def _reports(
    tasks: list[FileTask], jobs: int, tree: Tree, cache: Session | None, progress: Callable[[int, int], None]
) -> list[FileReport]:
    from devlint.cache.running import reports

    gathered: list[FileReport] = []
    with contextlib.closing(reports(tasks, jobs, tree, cache)) as found:
        for report in found:
            gathered.append(report)
            progress(len(gathered), len(tasks))
    return gathered


def _plan_stdin(request: Request, configuration: Configuration) -> Plan:
    path = os.path.normpath(os.path.join(request.cwd, request.stdin_filename or "-"))
    found = Discovered()
    if configuration.for_directory(os.path.dirname(path)).force_exclude and is_excluded(path, configuration):
        found.excluded = 1
        return Plan([], found, [], configuration)
    task = Planner(configuration, request.cwd, request.ignore_noqa).task(path, request.stdin)
    return Plan([task], found, [], configuration)


def _novelty(
    request: Request, planned: Plan, jobs: int, progress: Callable[[int, int], None], cache: Session | None
) -> Novelty:
    planner = Planner(planned.configuration, request.cwd, request.ignore_noqa)
    return Novelty(request.wanted, planned.configuration, request.cwd, planner.task, jobs, progress, cache)


def _named(request: Request, planned: Plan) -> list[str]:
    """The paths that the run was asked for, absolute; none if not all that is in them could be seen."""
    if planned.unreadable:
        return []
    paths = request.paths if request.stdin is None else (request.stdin_filename or "-",)
    return [os.path.normpath(os.path.join(request.cwd, path)) for path in paths]


def _hidden(reports: list[FileReport], judgement: Judgement) -> Hidden:
    return Hidden(
        suppressed=sum(report.suppressed for report in reports),
        baselined=judgement.baselined,
        in_base=judgement.in_base,
        below_severity=sum(report.below_severity for report in reports),
        below_confidence=sum(report.below_confidence for report in reports),
    )
