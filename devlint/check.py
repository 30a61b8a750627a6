"""The static pipeline, top to bottom: paths, files, processes, findings, what is shown and what was hidden."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from devlint.analysis import FileReport, FileTask, Gate, failed
from devlint.config import Configuration, Overrides, Settings
from devlint.result import Hidden, Result
from devlint.source.discovery import Discovered, discover, is_excluded
from devlint.source.project import identity_path, path_in_project, shown_path
from devlint.workers import available_processors, run


@dataclass(frozen=True)
class Request:
    """What is to be checked. ``stdin`` is the content of the one file that has no path."""

    paths: tuple[str, ...]
    cwd: Path
    overrides: Overrides = field(default_factory=Overrides)
    ignore_noqa: bool = False
    jobs: int | None = None
    """None: as many as there are processors."""
    stdin: bytes | None = None
    stdin_filename: str | None = None


@dataclass(frozen=True)
class Plan:
    """The files of a request, before anything is read."""

    tasks: list[FileTask]
    found: Discovered
    unreadable: list[FileReport]

    @property
    def nothing(self) -> str:
        """Why there is nothing to look at; empty if there is something."""
        if self.tasks or self.unreadable or self.found.missing:
            return ""
        if self.found.excluded:
            return "no file left: all that were found are excluded"
        return "no Python file among the paths"


def plan(request: Request) -> Plan:
    """Find the files and the settings of each. Raises ConfigurationError."""
    configuration = Configuration(request.overrides, request.cwd)
    configuration.for_directory(str(request.cwd))  # a mistake in it is told even if it governs no file
    if request.stdin is not None:
        return _plan_stdin(request, configuration)
    found = discover(list(request.paths), configuration, request.cwd)
    tasks = [_task(path, configuration, request) for path in found.files]
    unreadable = [failed(_task(path, configuration, request), reason) for path, reason in sorted(found.unreadable)]
    return Plan(tasks, found, unreadable)


def check(request: Request, progress: Callable[[int, int], None] = lambda done, total: None) -> Result:
    """Look at every file and gather what is said. ``progress`` is told how many files of how many are done."""
    started = time.perf_counter()
    planned = plan(request)
    reports = list(planned.unreadable)
    for report in run(planned.tasks, request.jobs or available_processors()):
        reports.append(report)
        progress(len(reports) - len(planned.unreadable), len(planned.tasks))
    findings = sorted((finding for report in reports for finding in report.findings), key=lambda f: f.sort_key)
    return Result(
        findings=tuple(findings),
        files=len(planned.tasks),
        hidden=_hidden(reports),
        seconds=time.perf_counter() - started,
        missing=tuple(planned.found.missing),
        nothing=planned.nothing,
        details=tuple(report.detail for report in sorted(reports, key=lambda r: r.shown_as) if report.detail),
        texts={task.shown_as: task.data for task in planned.tasks if task.data is not None},
    )


def _plan_stdin(request: Request, configuration: Configuration) -> Plan:
    path = os.path.normpath(os.path.join(request.cwd, request.stdin_filename or "-"))
    found = Discovered()
    if configuration.for_directory(os.path.dirname(path)).force_exclude and is_excluded(path, configuration):
        found.excluded = 1
        return Plan([], found, [])
    return Plan([_task(path, configuration, request)], found, [])


def _task(path: str, configuration: Configuration, request: Request) -> FileTask:
    settings = configuration.for_directory(os.path.dirname(path))
    file = Path(path)
    return FileTask(
        path=path,
        shown_as=shown_path(path, str(request.cwd)),
        identity=identity_path(file),
        in_project=str(path_in_project(file)),
        gate=_gate(settings, path, request.ignore_noqa),
        data=request.stdin,
        cwd=str(request.cwd),
        src=settings.src,
    )


def _gate(settings: Settings, path: str, ignore_noqa: bool) -> Gate:
    return Gate(
        enabled=settings.enabled_for(path),
        named=settings.selection.named,
        min_severity=settings.min_severity,
        min_confidence=settings.min_confidence,
        bare_noqa=settings.bare_noqa,
        ignore_noqa=ignore_noqa,
    )


def _hidden(reports: list[FileReport]) -> Hidden:
    return Hidden(
        suppressed=sum(report.suppressed for report in reports),
        below_severity=sum(report.below_severity for report in reports),
        below_confidence=sum(report.below_confidence for report in reports),
    )
