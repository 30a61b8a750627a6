"""What devlint says at a place of a history: found, gone after the fix, below the gate, missed; and the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from linting import Finding
from places import Bug, Lookalike

from devlint.finding import Confidence, Severity

_GATE = {level.label for level in Severity if level >= Severity.WARNING}
_SURE = {level.label for level in Confidence if level >= Confidence.MEDIUM}


def at_gate(finding: Finding) -> bool:
    """Whether a user who sets nothing sees it."""
    return finding["severity"] in _GATE and finding["confidence"] in _SURE


@dataclass(frozen=True)
class BugOutcome:
    """What was said within two lines of a bug, and of the same place after the fix, below the gate too.

    ``leading`` and ``leading_after`` stand at other lines or in files that import the bug's, and their traces come by
    the bug: each is said of one side of the fix only, since what both have tells nothing of it.
    """

    bug: Bug
    before: tuple[Finding, ...]
    after: tuple[Finding, ...]
    leading: tuple[Finding, ...] = ()
    leading_after: tuple[Finding, ...] = ()

    @property
    def found(self) -> bool:
        return any(map(at_gate, self.before + self.leading))

    @property
    def elsewhere(self) -> bool:
        """Found, but at another line alone."""
        return self.found and not any(map(at_gate, self.before))

    @property
    def still(self) -> bool:
        """Reported although it is repaired, whether or not the bug itself was found."""
        return any(map(at_gate, self.after + self.leading_after))

    @property
    def gone(self) -> bool:
        return self.found and not self.still

    @property
    def below(self) -> bool:
        """Not found, but known at a lower severity or confidence than is shown."""
        return bool(self.before or self.leading) and not self.found

    @property
    def verdict(self) -> str:
        return "found" if self.found else "below" if self.below else "missed"


@dataclass(frozen=True)
class LookalikeOutcome:
    """What was said within two lines of a correct place, and elsewhere by a trace that comes by; all of it is false."""

    place: Lookalike
    said: tuple[Finding, ...]

    @property
    def false(self) -> bool:
        return any(map(at_gate, self.said))

    @property
    def below(self) -> bool:
        return bool(self.said) and not self.false


@dataclass(frozen=True)
class Row:
    """One line of the table of bugs."""

    name: str
    bugs: int
    found: int
    local: tuple[int, int]
    """Found, and all, of the bugs that their function alone shows."""
    beyond: tuple[int, int]
    elsewhere: int
    """Found at another line, whose trace comes by."""
    gone: int
    still: int
    below: int
    missed: int
    codes: tuple[str, ...]


def row(name: str, outcomes: Iterable[BugOutcome]) -> Row:
    outcomes = list(outcomes)

    def found(local: bool) -> tuple[int, int]:
        own = [outcome for outcome in outcomes if outcome.bug.local is local]
        return sum(outcome.found for outcome in own), len(own)

    said = {f["code"] for outcome in outcomes for f in outcome.before + outcome.leading if at_gate(f)}
    return Row(
        name,
        len(outcomes),
        sum(outcome.found for outcome in outcomes),
        found(True),
        found(False),
        sum(outcome.elsewhere for outcome in outcomes),
        sum(outcome.gone for outcome in outcomes),
        sum(outcome.still for outcome in outcomes),
        sum(outcome.below for outcome in outcomes),
        sum(outcome.verdict == "missed" for outcome in outcomes),
        tuple(sorted(said)),
    )


def rows(outcomes: list[BugOutcome], key: Callable[[Bug], str]) -> list[Row]:
    """One row for each value of ``key``, the largest first, and the total."""
    names = {key(outcome.bug) for outcome in outcomes}
    table = [row(name, (outcome for outcome in outcomes if key(outcome.bug) == name)) for name in names]
    return [*sorted(table, key=lambda row: (-row.bugs, row.name)), row("total", outcomes)]


def causes(outcomes: list[BugOutcome]) -> list[tuple[str, int, int]]:
    """Of the bugs that were not found, by cause: its label, how many are below the gate, how many are missed."""
    open_ones = [outcome for outcome in outcomes if not outcome.found]
    below = Counter(outcome.bug.cause or "not looked into" for outcome in open_ones if outcome.below)
    missed = Counter(outcome.bug.cause or "not looked into" for outcome in open_ones if not outcome.below)
    return [(name, below[name], missed[name]) for name, _ in (below + missed).most_common()]


def bug_record(outcome: BugOutcome) -> dict[str, Any]:
    """One bug for ``--json``."""
    bug = asdict(outcome.bug)
    return {name: bug[name] for name in ("id", "repo", "kind", "local", "cause", "path", "lines")} | {
        "verdict": outcome.verdict,
        "gone": outcome.gone,
        "still": outcome.still,
        "before": [_said(finding) for finding in outcome.before],
        "after": [_said(finding) for finding in outcome.after],
        "leading": [_said(finding) for finding in outcome.leading],
        "leading_after": [_said(finding) for finding in outcome.leading_after],
    }


def lookalike_record(outcome: LookalikeOutcome) -> dict[str, Any]:
    """One correct place for ``--json``."""
    place = asdict(outcome.place)
    return {name: place[name] for name in ("id", "repo", "category", "path", "line")} | {
        "verdict": "false" if outcome.false else "below" if outcome.below else "silent",
        "said": [_said(finding) for finding in outcome.said],
    }


def _said(finding: Finding) -> dict[str, Any]:
    return {name: finding[name] for name in ("code", "severity", "confidence", "path", "line", "scope", "message")}


HEAD = ["", "found", "local", "beyond", "at another line", "gone after the fix", "still reported", "below the gate"]
HEAD += ["missed", "found by"]


def cells(row: Row) -> list[str]:
    """A row of the table, as words."""
    shares = [f"{hits} of {bugs}" if bugs else "-" for hits, bugs in ((row.found, row.bugs), row.local, row.beyond)]
    counts = (row.elsewhere, row.gone, row.still, row.below, row.missed)
    return [row.name, *shares, *map(str, counts), " ".join(row.codes)]


def text_table(table: list[list[str]]) -> str:
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in table)


def markdown_table(table: list[list[str]], words: frozenset[int] = frozenset({0})) -> str:
    """``words``: the columns that are not numbers."""
    rule = ["---" if column in words else "---:" for column in range(len(table[0]))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [table[0], rule, *table[1:]])
