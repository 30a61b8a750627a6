"""The entries of a confirming run that failed by themselves, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from devlint.pipeline.result import EntryRun
from devlint.reports.frame import bar, frame, gutter_width
from devlint.reports.painting import Line, visible, wrapped
from devlint.reports.source_lines import SourceLines


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
