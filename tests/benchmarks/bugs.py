"""Bugs that maintainers fixed, and what devlint says of each before and after the fix."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linting import Finding

WITHIN = 2
"""A finding counts as the bug's if it is at most this many lines from it."""


@dataclass(frozen=True)
class Bug:
    """One line of the manifest: a place in a release on PyPI, and the same place in the first release with the fix."""

    id: str
    package: str
    buggy: str
    fixed: str
    path: str
    line: int
    fixed_path: str
    fixed_line: int
    kind: str
    local: bool
    """Whether the function alone shows the bug."""
    function: str
    needs: str | None
    """What else has to be known to see it; None for most of the local ones."""
    why: str
    issue: str | None
    repo: str
    fix_commit: str
    effect: str


@dataclass(frozen=True)
class Outcome:
    """What was said within two lines of a bug's place in the buggy release, and of the repaired place in the fixed."""

    bug: Bug
    before: tuple[Finding, ...]
    after: tuple[Finding, ...]

    @property
    def found(self) -> bool:
        return bool(self.before)

    @property
    def gone(self) -> bool:
        return self.found and not self.after

    @property
    def still(self) -> bool:
        """Reported although it is repaired, whether or not the bug itself was found."""
        return bool(self.after)

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(sorted({finding["code"] for finding in self.before}))


def read_bugs(file: Path) -> list[Bug]:
    """The manifest. Raises ValueError naming the file and line of a record that is not one."""
    bugs: list[Bug] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                bugs.append(Bug(**json.loads(line)))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{file}:{number}: not a bug: {error}") from None
    doubled = {bug.id for bug in bugs if sum(other.id == bug.id for other in bugs) > 1}
    if doubled:
        raise ValueError(f"{file}: the same id twice: {', '.join(sorted(doubled))}")
    return bugs


def near(findings: Iterable[Finding], path: str, line: int) -> tuple[Finding, ...]:
    """The findings in ``path`` whose first line is at most two from ``line``; DEV9 is not about placement."""
    return tuple(
        finding
        for finding in findings
        if finding["path"] == path and abs(finding["line"] - line) <= WITHIN and not finding["code"].startswith("DEV9")
    )


@dataclass(frozen=True)
class Density:
    """All that was said of the buggy files, each counted once, so that saying much cannot pass for skill."""

    files: int
    lines: int
    findings: int
    at_bugs: int
    """The findings that are within two lines of a bug."""
    by_chance: float
    """How many bugs as many findings would be near on average, were they on random lines of the same files."""


def hit_by_chance(lines: int, findings: int, line: int) -> float:
    """The probability that one of so many findings on random lines of a file is within two lines of ``line``."""
    around = min(lines, line + WITHIN) - max(1, line - WITHIN) + 1
    return 1.0 - (1.0 - around / lines) ** findings if lines else 0.0


def density(outcomes: Iterable[Outcome], files: dict[tuple[str, str, str], tuple[int, list[Finding]]]) -> Density:
    """``files``: lines and findings by package, version and path."""
    outcomes = list(outcomes)
    places = {_file(outcome.bug) for outcome in outcomes}
    at_bugs = {
        (*_file(outcome.bug), finding["fingerprint"], finding["line"])
        for outcome in outcomes
        for finding in outcome.before
    }
    return Density(
        files=len(places),
        lines=sum(files[place][0] for place in places),
        findings=sum(len(files[place][1]) for place in places),
        at_bugs=len(at_bugs),
        by_chance=sum(
            hit_by_chance(files[_file(bug)][0], len(files[_file(bug)][1]), bug.line)
            for bug in (outcome.bug for outcome in outcomes)
        ),
    )


def _file(bug: Bug) -> tuple[str, str, str]:
    return (bug.package, bug.buggy, bug.path)


@dataclass(frozen=True)
class Row:
    """One line of the table: local and non-local bugs apart, each as found / all."""

    name: str
    local: tuple[int, int]
    non_local: tuple[int, int]
    gone: int
    still: int
    codes: tuple[str, ...]

    @property
    def found(self) -> int:
        return self.local[0] + self.non_local[0]

    @property
    def bugs(self) -> int:
        return self.local[1] + self.non_local[1]


def rows(outcomes: list[Outcome]) -> list[Row]:
    """One row a kind, the largest first, and the total."""
    kinds = {outcome.bug.kind for outcome in outcomes}
    table = [_row(kind, [outcome for outcome in outcomes if outcome.bug.kind == kind]) for kind in kinds]
    return [*sorted(table, key=lambda row: (-row.bugs, row.name)), _row("total", outcomes)]


def _row(name: str, outcomes: list[Outcome]) -> Row:
    def found(local: bool) -> tuple[int, int]:
        own = [outcome for outcome in outcomes if outcome.bug.local is local]
        return sum(outcome.found for outcome in own), len(own)

    codes = tuple(sorted({code for outcome in outcomes for code in outcome.codes}))
    return Row(
        name,
        found(True),
        found(False),
        sum(outcome.gone for outcome in outcomes),
        sum(outcome.still for outcome in outcomes),
        codes,
    )


def as_record(outcome: Outcome) -> dict[str, Any]:
    """One bug for ``--json``."""
    bug = outcome.bug
    return {
        "id": bug.id,
        "kind": bug.kind,
        "local": bug.local,
        "needs": bug.needs,
        "found": outcome.found,
        "gone": outcome.gone,
        "still": outcome.still,
        "before": [_said(finding) for finding in outcome.before],
        "after": [_said(finding) for finding in outcome.after],
    }


def _said(finding: Finding) -> dict[str, Any]:
    return {name: finding[name] for name in ("code", "severity", "confidence", "line", "scope", "message")}
