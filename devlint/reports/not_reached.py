"""Findings that no entry of a confirming run came near: one line tells them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from devlint.finding import Finding, VerdictState
from devlint.reports.painting import Line, visible

MOST_SCOPES = 3
"""Functions named in the line about what nothing came near; the others are counted."""


def is_far(finding: Finding) -> bool:
    """Whether nothing that ran came near: not even the function that it is in was called."""
    verdict = finding.verdict
    return verdict is not None and verdict.state is VerdictState.NOT_REACHED and verdict.entry is None


def far_line(findings: Iterable[Finding]) -> Line:
    """``Not reached: 12 findings in `Net.sample`, `train` and 2 more that nothing ran; -v shows them``."""
    scopes = Counter(finding.scope or finding.place.path for finding in findings)
    number, names = scopes.total(), [f"`{visible(scope)}`" for scope, _ in scopes.most_common(MOST_SCOPES)]
    more = len(scopes) - len(names)
    listed = ", ".join(names) if more else " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    if more:
        listed += f" and {more} more"
    told = f"{number:,} finding{'' if number == 1 else 's'} in {listed}, which nothing ran"
    return [("Not reached: ", "dim"), (f"{told}; -v shows {'it' if number == 1 else 'them'}", "dim")]
