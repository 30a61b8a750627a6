"""What became of the entries of a confirming run, for people: which failed by themselves, and what none came near."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from devlint.finding import Finding, VerdictState
from devlint.pipeline.result import EntryRun
from devlint.reports.frame import bar, frame, gutter_width
from devlint.reports.painting import Line, visible, wrapped
from devlint.reports.source_lines import SourceLines

MOST_SCOPES = 3
"""Functions named in the line about what nothing came near; the others are counted."""


def failure_lines(entries: Iterable[EntryRun], source: SourceLines, width: int | None) -> Iterator[Line]:
    """``net.py:32:5: net:build failed on cuda:0 (simulated): ValueError: no such weights``, and the line."""
    for entry in entries:
        if not entry.own_failure:
            continue
        place = entry.place
        simulated = " (simulated)" if entry.simulated else ""
        told = f" on {entry.device}{simulated}: {entry.reason}"
        where = [] if place is None else [(visible(place.path), "bold"), (f":{place.position}: ", "dim")]
        state = (f"{entry.entry} {entry.state.replace('-', ' ')}", "bold red")
        yield from wrapped([*where, state, (visible(told), "")], width, 4)
        if place is not None:
            gutter = gutter_width([place.line, place.end_line + 1]) + 1
            drawn = frame(place, source.of(place), width, gutter, "^", "red", context=1)
            yield from [bar(gutter), *drawn] if drawn else []
        yield []


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
