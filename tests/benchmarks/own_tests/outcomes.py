"""What runs before and after a fix say of a bug, and the table of all."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from own_tests.choosing import Spot
from own_tests.running import PLACEMENTS, SuiteRun
from places import Bug

from devlint.runtime.unforeseen import ANOTHER_TIME

Finding = dict[str, Any]

_SEEN = ("confirmed", "refuted", "inconclusive")
"""Verdicts on a line that a run of ``devlint confirm`` came to."""


@dataclass(frozen=True)
class Side:
    """One commit: where the bug is, or was, and what ran there."""

    spot: Spot
    path: str
    run: SuiteRun
    auto: tuple[Finding, ...] = ()
    """What ``devlint confirm --auto`` said of the file, where the tests did not come to the line."""
    script: tuple[Finding, ...] = ()
    """What it said with a script of a few lines (``scripts``), where neither the tests nor such an entry came there."""
    again: tuple[tuple[str, SuiteRun], ...] = ()
    """The same tests with users' tensors elsewhere, by placement, until the bug was found."""
    code: str = ""
    """What the tests ran with (code.py)."""

    @property
    def by_tests(self) -> bool:
        """A constructor runs on the CPU, as it should; what it made is met by the calls that are lifted."""
        return self.run.lifted > 0 or (self.spot.is_constructor and self.run.ran > 0)

    @property
    def by_entry(self) -> bool:
        return self._is_seen_in(self.auto)

    @property
    def by_script(self) -> bool:
        return self._is_seen_in(self.script)

    def _is_seen_in(self, findings: tuple[Finding, ...]) -> bool:
        states = ((finding, (finding["verdict"] or {}).get("state")) for finding in findings)
        return any(state in _SEEN and is_at(finding, self.path, self.spot) for finding, state in states)

    @property
    def said(self) -> tuple[Finding, ...]:
        """What the runs saw; of ``devlint confirm`` only what it confirmed."""
        confirmed = (f for f in self.auto if (f["verdict"] or {}).get("state") == "confirmed")
        again = [finding for _, run in self.again for finding in run.findings]
        return (*self.run.findings, *(finding for finding in again if finding not in self.run.findings), *confirmed)

    def said_in(self, placements: Iterable[str]) -> tuple[Finding, ...]:
        """What the runs with users' tensors in one of these placements saw."""
        runs = ((PLACEMENTS[0], self.run), *self.again)
        return tuple(finding for name, run in runs if name in placements for finding in run.findings)

    @property
    def placement(self) -> str:
        """The one that shows the bug; empty if none does."""
        runs = ((PLACEMENTS[0], self.run), *self.again)
        return next((name for name, run in runs if any(is_at(f, self.path, self.spot) for f in run.findings)), "")

    @property
    def at_bug(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.said if is_at(finding, self.path, self.spot))


def is_at(finding: Finding, path: str, spot: Spot) -> bool:
    """Whether it is in the function of the bug, or shows a call there that led to it, or operands that meet at the
    bug's line, or one that should have been elsewhere and comes from there."""
    if finding["path"] == path and finding["line"] in spot.function:
        return True
    calls = [step for step in finding.get("trace", ()) if step["message"] == "called here"]
    if any(step["path"] == path and step["line"] in spot.function for step in calls):
        return True
    told = [step for step in finding.get("trace", ()) if step["message"].startswith(("met here", ANOTHER_TIME))]
    if any(step["path"] == path and step["line"] in spot.lines for step in told):
        return True
    verdict = finding["verdict"] or {}
    operands = verdict.get("operands", ())
    # Of operands that meet, those where the run is are where they should be.
    operands = [operand for operand in operands if operand.get("device") != verdict.get("device")] or operands
    if spot.is_constructor:
        # Of what a module keeps, the constructor is known and the attribute, not the line.
        born = [(o["born"], o["name"].rpartition(".")[2]) for o in operands if o["born"]]
        if any(p["path"] == path and p["line"] in spot.function and name in spot.names for p, name in born):
            return True
    places = [operand[way] for operand in operands for way in ("born", "moved", "computed", "kept") if operand.get(way)]
    return any(place["path"] == path and place["line"] in spot.lines for place in places)


@dataclass(frozen=True)
class Outcome:
    """A bug whose project could be run, or the reason why it could not."""

    bug: Bug
    project: str
    before: Side | None
    after: Side | None
    trouble: str = ""
    explained: frozenset[tuple[str, str]] = frozenset()
    """Path and scope of findings after the fix that were read, and are so."""
    why_missed: tuple[str, str] = ("", "")
    """The class of a bug that was reached and not found, or found and not gone, and the reason that a reader found."""

    @property
    def ran(self) -> bool:
        return self.before is not None and not self.trouble

    @property
    def reached(self) -> bool:
        return self.before is not None and self.ran and (self.before.by_tests or self.before.by_entry)

    @property
    def found(self) -> bool:
        return self.before is not None and self.reached and bool(self.before.at_bug)

    @property
    def gone(self) -> bool:
        """Not there after the fix, in a run that came to the fixed lines as that before it came to the bug."""
        if not self.found or self.after is None or self.after.at_bug:
            return False
        return self.before is None or not self.before.by_tests or self.after.run.ran > 0

    @property
    def elsewhere(self) -> bool:
        """Not at its place, but by what it leads to: a finding that the fix takes away."""
        if self.before is None or self.after is None or not self.reached or self.found:
            return False
        # Tests are stopped when their time is over: that fewer of them show less is no sign of the fix.
        if self.after.run.passed + self.after.run.failed < self.before.run.passed + self.before.run.failed:
            return False
        after = {(finding["path"], finding["scope"], finding["code"]) for finding in self.after.said}
        # What a placement shows before the fix is gone only where that placement ran after it as well.
        before = self.before.said_in((PLACEMENTS[0], *(name for name, _ in self.after.again)))
        return any((finding["path"], finding["scope"], finding["code"]) not in after for finding in before)

    @property
    def unexplained(self) -> tuple[Finding, ...]:
        said = self.after.said if self.after is not None else ()
        return tuple(finding for finding in said if (finding["path"], finding["scope"]) not in self.explained)

    @property
    def verdict(self) -> str:
        if not self.ran:
            return "cannot run"
        if not self.reached:
            return "fails by itself" if self.before is not None and self.before.run.broken else "not reached"
        if self.elsewhere:
            return "elsewhere"
        return "gone" if self.gone else "still there" if self.found else "missed"


def read_explained(file: Path) -> dict[str, dict[tuple[str, str], str]]:
    """By project: path and scope of a finding, and why it is right to say it of code after the fix."""
    explained: dict[str, dict[tuple[str, str], str]] = {}
    for line in file.read_text("utf-8").splitlines():
        record = json.loads(line)
        explained.setdefault(record["project"], {})[record["path"], record["scope"]] = record["why"]
    return explained


WHY = {
    "placement": "needs its parts apart: what a user put on different devices",
    "stand-in": "the test stands in for what would meet the value, and drops it",
    "handed out": "the value goes back to the test, and nothing on the accelerator meets it",
    "values": "the tests come to the line with values that do not go wrong there",
    "still": "the fix leaves another way to the same clash",
    "credit": "what it leads to is shown in another function",
}
"""Why a bug that was reached is not found and gone; the labels of missed.jsonl."""


def read_missed(file: Path) -> dict[str, tuple[str, str]]:
    """By bug: the class, and why. Raises ValueError naming the line of a record with another class."""
    missed: dict[str, tuple[str, str]] = {}
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        record = json.loads(line)
        if record["class"] not in WHY:
            raise ValueError(f"{file}:{number}: the class is {record['class']!r}, not one of {', '.join(WHY)}")
        missed[record["id"]] = (record["class"], record["why"])
    return missed


HEAD = [
    "project", "bugs tried", "ran", "reached", "by an entry", "found", "gone", "shown elsewhere", "false",
]  # fmt: skip


def table(records: Iterable[dict[str, Any]]) -> list[list[str]]:
    """A row for each project, the largest first, and the total."""
    records = list(records)
    names = {record["project"] for record in records}
    groups = [(name, [record for record in records if record["project"] == name]) for name in names]
    groups.sort(key=lambda group: (-len(group[1]), group[0]))
    return [HEAD, *(_row(name, own) for name, own in groups), _row("total", records)]


def count_of(records: Iterable[dict[str, Any]], code: str) -> str:
    """How many of those that ran, and of those reached, were run with some code."""
    ran = [record for record in records if record["verdict"] != "cannot run"]
    reached = [record for record in ran if record["verdict"] in _REACHED]
    counts = [(sum(record.get("code") == code for record in group), len(group)) for group in (ran, reached)]
    return ", ".join(
        f"{some} of {all_} {name}" for (some, all_), name in zip(counts, ("that ran", "reached"), strict=True)
    )


_REACHED = ("gone", "still there", "missed", "elsewhere")


def _row(name: str, records: list[dict[str, Any]]) -> list[str]:
    verdicts = [record["verdict"] for record in records]
    reached = [record for record in records if record["verdict"] in _REACHED]
    counts = (
        len(records),
        len(records) - verdicts.count("cannot run"),
        len(reached),
        sum(record.get("by_entry", False) for record in reached),
        verdicts.count("gone") + verdicts.count("still there"),
        verdicts.count("gone"),
        verdicts.count("elsewhere"),
        sum(record.get("false", 0) for record in records),
    )
    return [name, *map(str, counts)]


def record_of(outcome: Outcome) -> dict[str, Any]:
    """One bug for the JSON file."""

    def side(one: Side | None) -> dict[str, Any] | None:
        if one is None:
            return None
        return {
            "tests": list(one.run.tests),
            "ran": one.run.ran,
            "lifted": one.run.lifted,
            "broken": one.run.broken,
            "passed": one.run.passed,
            "failed": one.run.failed,
            "at_bug": [told(finding) for finding in one.at_bug],
            "others": [told(finding) for finding in one.said if finding not in one.at_bug],
        }

    bug = outcome.bug
    return {
        "id": bug.id,
        "project": outcome.project,
        "kind": bug.kind,
        "cause": bug.cause,
        "verdict": outcome.verdict,
        "placement": outcome.before.placement if outcome.before is not None else "",
        "code": outcome.before.code if outcome.before is not None else "",
        "by_script": by_script_of(outcome),
        "by_entry": outcome.reached and outcome.before is not None and not outcome.before.by_tests,
        "false": len(outcome.unexplained),
        "why_not": outcome.trouble,
        "missed": ": ".join(filter(None, outcome.why_missed)),
        "before": side(outcome.before),
        "after": side(outcome.after),
    }


def by_script_of(outcome: Outcome) -> str:
    """What a script came to, where the tests did not come to the line: of these the table does not tell."""
    before, after = outcome.before, outcome.after
    if before is None or not before.script:
        return ""
    if not before.by_script:
        return "not reached"
    is_found, is_left = (
        side is not None and any(is_confirmed_at(finding, side) for finding in side.script) for side in (before, after)
    )
    return "missed" if not is_found else "still there" if is_left else "gone"


def is_confirmed_at(finding: Finding, side: Side) -> bool:
    state = (finding["verdict"] or {}).get("state")
    return bool(state == "confirmed" and is_at(finding, side.path, side.spot))


def told(finding: Finding) -> str:
    return f"{finding['path']}:{finding['line']} {finding['scope']} {finding['code']}: {finding['message'][:160]}"
