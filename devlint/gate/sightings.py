"""Findings of a run together with the keys they are known by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from devlint.configuration.codes import UNREADABLE_FILE
from devlint.finding import Finding
from devlint.gate.matching import Key
from devlint.pipeline.task import FileReport, FileTask


@dataclass(frozen=True, slots=True)
class Sighting:
    """One finding and its key."""

    finding: Finding
    key: Key

    @property
    def order(self) -> tuple[str, int, int, int, str, str]:
        """The same from every working directory."""
        return (self.key.path, *self.finding.sort_key[1:])


def sightings(tasks: Mapping[str, FileTask], reports: Iterable[FileReport]) -> list[Sighting]:
    """What is shown of some files, in the order of their places. ``tasks`` are by the path in findings.

    A file that could not be analysed (DEV902) is no finding that could be known.
    """
    return _sorted(tasks, ((report, report.findings) for report in reports))


def sightings_below_the_gate(tasks: Mapping[str, FileTask], reports: Iterable[FileReport]) -> list[Sighting]:
    """What was found in some files and is not shown, for its severity or its confidence."""
    return _sorted(tasks, ((report, report.below_gate) for report in reports))


def _sorted(tasks: Mapping[str, FileTask], found: Iterable[tuple[FileReport, tuple[Finding, ...]]]) -> list[Sighting]:
    seen = [
        Sighting(finding, Key.of(finding, tasks[report.shown_as].identity))
        for report, findings in found
        for finding in findings
        if finding.code != UNREADABLE_FILE
    ]
    return sorted(seen, key=lambda sighting: sighting.order)


def could_not_be_analysed(report: FileReport) -> bool:
    return any(finding.code == UNREADABLE_FILE for finding in report.findings)
