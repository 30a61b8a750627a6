"""What of a run is new: its findings without those of the baselines and without those of the base."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.configuration.config import Configuration
from devlint.finding import Finding
from devlint.gate.wanted import BaselineUse, Wanted
from devlint.pipeline.task import FileReport, FileTask
from devlint.source.discovery import is_excluded
from devlint.source.project import identity_root
from devlint.source.tree import Tree, WorkingTree

if TYPE_CHECKING:
    from devlint.cache.session import Session
    from devlint.gate.baseline import Baseline
    from devlint.gate.comparison import Comparison
    from devlint.gate.sightings import Sighting


@dataclass(frozen=True)
class Judgement:
    """The new findings, how many are known and from where, and what the user is to be told."""

    new: tuple[Finding, ...]
    baselined: int
    in_base: int
    notes: tuple[str, ...]


class Novelty:
    """Reads what is known before a run, and judges by it what the run found."""

    def __init__(
        self,
        wanted: Wanted,
        configuration: Configuration,
        cwd: Path,
        task: Callable[[str], FileTask],
        jobs: int,
        progress: Callable[[int, int], None],
        cache: Session | None = None,
    ) -> None:
        """Raises GitError. ``task`` plans a file by its absolute path."""
        self.cache = cache
        """What is known of earlier runs; None once files may have changed that this run has looked at."""
        self._wanted = wanted
        self._configuration = configuration
        self._cwd = cwd
        self._task = task
        self._jobs = jobs
        self._progress = progress
        self._baselines: dict[Path, Baseline] = {}
        self._comparison: Comparison | None = None
        if wanted.diff_base:
            from devlint.gate.comparison import Comparison, Project

            project = Project(task, lambda path: is_excluded(path, configuration), self._analyse)
            self._comparison = Comparison(wanted.diff_base, cwd, project)

    @property
    def tree(self) -> Tree:
        """The working tree as the run has to analyse it."""
        return self._comparison.tree if self._comparison else WorkingTree()

    def prepare(self, tasks: list[FileTask]) -> tuple[list[FileTask], list[str]]:
        """Read the baselines of some files; those of them that can be judged, and what is to be said of the others.

        Raises BaselineError and GitError.
        """
        for directory in sorted({str(self._cwd), *(os.path.dirname(task.path) for task in tasks)}):
            file = self._baseline_of(directory)
            if file is not None and file not in self._baselines:
                from devlint.gate.baseline import Baseline

                self._baselines[file] = Baseline(file, self._cwd, self._wanted.use)
        return self._comparison.comparable(tasks) if self._comparison else (tasks, [])

    def judge(self, tasks: Sequence[FileTask], reports: Sequence[FileReport], named: Iterable[str]) -> Judgement:
        """What is new. ``named`` are the absolute paths that the run was asked for and could look through.

        Raises BaselineError.
        """
        notes: list[str] = []
        baselined: set[tuple[str, str]] = set()
        in_base: set[tuple[str, str]] = set()
        if self._baselines:
            baselined = self._in_baselines(tasks, reports, sorted(set(named)), notes)
        if self._comparison:
            known, told = self._comparison.known(tasks, reports)
            in_base = {_name(sighting.finding) for sighting in known} - baselined
            notes += told
        findings = (finding for report in reports for finding in report.findings)
        known_names = baselined | in_base
        new = tuple(finding for finding in findings if _name(finding) not in known_names)
        return Judgement(new, len(baselined), len(in_base), tuple(notes))

    def _in_baselines(
        self, tasks: Sequence[FileTask], reports: Sequence[FileReport], named: list[str], notes: list[str]
    ) -> set[tuple[str, str]]:
        """The findings that are in the baseline of their file."""
        from devlint.gate.baseline import coverage_of

        directories = [path for path in named if os.path.isdir(path)]
        roots = dict.fromkeys(
            identity_root(Path(directory))
            for directory in (str(self._cwd), *directories, *(os.path.dirname(path) for path in named))
        )
        baseline_of = {task.shown_as: self._baseline_of(os.path.dirname(task.path)) for task in tasks}
        tasks_of: defaultdict[Path | None, list[FileTask]] = defaultdict(list)
        reports_of: defaultdict[Path | None, list[FileReport]] = defaultdict(list)
        for task in tasks:
            tasks_of[baseline_of[task.shown_as]].append(task)
        for report in reports:
            reports_of[baseline_of[report.shown_as]].append(report)
        coverage = coverage_of(tasks, reports, roots, directories, self._enabled)
        found: set[tuple[str, str]] = set()
        for file, baseline in self._baselines.items():
            outcome = baseline.judge(tasks_of[file], reports_of[file], coverage, self._look_at)
            found |= {_name(sighting.finding) for sighting in outcome.known}
            notes += outcome.notes
        return found

    def _baseline_of(self, directory: str) -> Path | None:
        configured = self._configuration.for_directory(directory).baseline
        if configured is None and self._wanted.use is not BaselineUse.READ:
            from devlint.gate.baseline_file import DEFAULT_NAME

            return self._cwd / DEFAULT_NAME
        return configured

    def _enabled(self, path: str) -> frozenset[str]:
        return self._configuration.for_directory(os.path.dirname(path)).enabled_for(path)

    def _look_at(self, paths: list[str]) -> list[Sighting]:
        from devlint.gate.sightings import sightings

        tasks = [self._task(path) for path in paths]
        return sightings({task.shown_as: task for task in tasks}, self._analyse(tasks, self.tree))

    def _analyse(self, tasks: list[FileTask], tree: Tree) -> Iterator[FileReport]:
        from devlint.cache.running import reports

        for done, report in enumerate(reports(tasks, self._jobs, tree, self.cache), 1):
            self._progress(done, len(tasks))
            yield report


def _name(finding: Finding) -> tuple[str, str]:
    """What tells a finding from the others of its run."""
    return finding.place.path, finding.fingerprint
