"""What lifted tests came to: findings, each with the tests that saw it, held to its file's comments and settings."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from devlint.check import Request, plan
from devlint.configuration.codes import all_codes
from devlint.confirmation.test_files import test_files
from devlint.finding import Finding
from devlint.pipeline.outside_findings import suppress_findings
from devlint.pipeline.result import EntryRun, Result
from devlint.runtime.entries import Entry
from devlint.runtime.isolation import Run
from devlint.runtime.job import Job
from devlint.runtime.observation import Observation
from devlint.runtime.placements import Placement, Wish
from devlint.runtime.unforeseen import runtime_findings, with_another_origin
from devlint.runtime.verdicts import is_echo, stray_of
from devlint.source.project import shown_path


@dataclass(frozen=True)
class Sighting:
    """One observation and the tests in which it was made."""

    observation: Observation
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """``tests``: for each finding of the result, by its fingerprint, the tests that saw it."""

    result: Result
    tests: dict[str, tuple[str, ...]]
    inconclusive: int
    """Clashes with tensors of which nobody knows where they should have been."""


def report_on(sightings: Iterable[Sighting], root: Path, device: str, simulated: bool = True) -> Report:
    """Findings of a test run, one a cause. Raises ConfigurationError."""
    drafts: dict[tuple[str, str, int, int], tuple[Finding, list[str]]] = {}
    inconclusive = 0
    for sighting in sightings:
        run = _run(sighting.tests[0], device, simulated)
        if _came_in_by_another_way(run, sighting.observation) or _made_by_tests(run, sighting.observation, root):
            inconclusive += 1
            continue
        for finding in _findings(run, sighting.observation, root):
            key = (finding.code, finding.place.path, finding.place.line, finding.place.column)
            known, seen_by = drafts.setdefault(key, (finding, []))
            seen_by.extend(sighting.tests)
            drafts[key] = (with_another_origin(known, finding), seen_by)
    tests: dict[str, tuple[str, ...]] = {}
    kept: list[Finding] = []
    suppressed = 0
    by_file: dict[str, list[tuple[Finding, list[str]]]] = {}
    for finding, seen_by in drafts.values():
        by_file.setdefault(finding.place.path, []).append((finding, seen_by))
    for path, drafted in sorted(by_file.items()):
        for task in plan(Request((os.path.join(root, path),), root)).tasks:
            for finding, seen_by in drafted:
                report = suppress_findings([finding], task)
                suppressed += report.suppressed
                kept += report.findings
                tests.update((known.fingerprint, tuple(dict.fromkeys(seen_by))) for known in report.findings)
    result = Result(
        findings=tuple(sorted(kept, key=lambda finding: finding.sort_key)),
        files=len(by_file),
        confirming=True,
        entries=(EntryRun("pytest", device, simulated, "ran"),),
    )
    return Report(replace(result, hidden=replace(result.hidden, suppressed=suppressed)), tests, inconclusive)


def _run(test: str, device: str, simulated: bool) -> Run:
    placement = Placement.FIRST if device.endswith(":0") else Placement.SECOND
    job = Job(Entry("test", test), placement, Wish("sim" if simulated else "cuda"))
    return Run(job, "ran", device=device, simulated=simulated, reached_device=True)


def _came_in_by_another_way(run: Run, observation: Observation) -> bool:
    """Whether a stray operand was neither made nor brought there in a lifted call, nor kept by a module: from a closure
    or a global."""
    stray = stray_of(run, observation)
    if observation.kind not in ("clash", "index", "strayed") or stray is None:
        return False
    return is_echo(run, observation) or (stray.device == "cpu" and stray.born is None and stray.moved is None)


def _made_by_tests(run: Run, observation: Observation, root: Path) -> bool:
    """Whether tested code met what a test itself made: a function or a model that the test hands over was written for
    the CPU, and where it would make its tensors elsewhere nobody knows. What is of tests alone is told."""
    stray = stray_of(run, observation)
    if stray is None or not any(_is_own(spot.path, root) for spot in observation.spots):
        return False
    places = [spot for spot in (*(stray.births or (stray.born,)), stray.moved) if spot is not None]
    is_test = test_files(root)
    return bool(places) and all(is_test(spot.path) for spot in places)


def _findings(run: Run, observation: Observation, root: Path) -> list[Finding]:
    spots = [*observation.spots, *(operand.born for operand in observation.operands if operand.born)]
    own = {spot.path for spot in spots if _is_own(spot.path, root)}
    files = own or {spot.path for spot in spots}
    rules = {code: (rule.name, rule.severity) for code, rule in all_codes().items()}
    return runtime_findings([(run, observation)], frozenset(files), rules, lambda path: shown_path(path, str(root)))


def _is_own(path: str, root: Path) -> bool:
    """Whether a file is the project's, and no test: what is tested may as well be installed elsewhere."""
    inside = Path(path).is_relative_to(root) and "site-packages" not in path
    return inside and not test_files(root)(path)
