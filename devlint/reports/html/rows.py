"""Which lines a drawing shows, and what stands below them: rows of one height, so that arrows find their places."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from devlint.finding import Finding, Place, TraceStep
from devlint.reports.source_lines import SourceLines

_CONTEXT = 2
_SMALL_GAP = 3
_MOST_LINES = 8


@dataclass(frozen=True, slots=True)
class FileRow:
    """The name of the file whose lines follow."""

    place: Place


@dataclass(frozen=True, slots=True)
class GapRow:
    """Lines that are left out."""

    count: int


@dataclass(frozen=True, slots=True)
class CodeRow:
    """One line, with the places on it."""

    file: Place
    number: int
    text: str
    margin: int
    """How many characters of its indentation are not shown."""


@dataclass(frozen=True, slots=True)
class StepRow:
    """What happened on the line above; ``number`` is the step's."""

    step: TraceStep
    number: int
    margin: int = 0


Row = FileRow | GapRow | CodeRow | StepRow


def rows(finding: Finding, source: SourceLines) -> list[Row]:
    """The rows of one finding, file by file: the file in which its trace ends comes last."""
    steps = list(enumerate(finding.trace, 1))
    files = dict.fromkeys([_file(finding.place)])
    for _, step in steps:
        files.pop(_file(step.place), None)
        files[_file(step.place)] = None
    made: list[Row] = []
    for file in files:
        here = [(number, step) for number, step in steps if _file(step.place) == file]
        places = [place for place in (finding.place, *(step.place for _, step in here)) if _file(place) == file]
        if len(files) > 1:
            made.append(FileRow(places[0]))
        made += _rows_of_file(places, here, source.of(places[0]))
    return made


def _file(place: Place) -> tuple[str, int]:
    return (place.path, place.cell)


def _rows_of_file(places: list[Place], steps: list[tuple[int, TraceStep]], lines: Sequence[str]) -> Iterable[Row]:
    below: dict[int, list[StepRow]] = {}
    for number, step in steps:
        end = min(max(step.place.end_line, step.place.line), len(lines))
        below.setdefault(_foot(step.place.line, end), []).append(StepRow(step, number))
    shown = _shown(places, lines)
    margin = _margin([lines[line - 1] for line in shown])
    before = 0
    for line in shown:
        if before and line - before > 1:
            yield GapRow(line - before - 1)
        yield CodeRow(places[0], line, lines[line - 1], margin)
        yield from (replace(row, margin=margin) for row in below.pop(line, ()))
        before = line
    # Of a file that is gone, or is no longer what it was, the steps are still told.
    for left in below.values():
        yield from left


def _margin(shown: Sequence[str]) -> int:
    """How many characters of indentation all of some lines have in common."""
    blanks = [line[: len(line) - len(line.lstrip(" \t"))] for line in shown if line.strip()]
    return len(os.path.commonprefix(blanks))  # noqa: RUF071


def _foot(line: int, end: int) -> int:
    """The line below which a step is told: the last of its own that is shown."""
    return end if end - line < _MOST_LINES else line


def _shown(places: list[Place], lines: Sequence[str]) -> list[int]:
    """The lines of the places with some around them; small gaps are filled, long regions shown by their beginning."""
    wanted: set[int] = set()
    for place in places:
        if 1 <= place.line <= len(lines):
            last = _foot(place.line, min(max(place.end_line, place.line), len(lines)))
            wanted.update(_around(place.line, last, lines))
    for before, after in itertools.pairwise(sorted(wanted)):
        if 1 < after - before <= _SMALL_GAP:
            wanted.update(range(before + 1, after))
    return sorted(wanted)


def _around(first: int, last: int, lines: Sequence[str]) -> range:
    """The lines from ``first`` to ``last`` and their context, whose ends are not blank."""
    start, stop = max(first - _CONTEXT, 1), min(last + _CONTEXT, len(lines))
    while start < first and not lines[start - 1].strip():
        start += 1
    while stop > last and not lines[stop - 1].strip():
        stop -= 1
    return range(start, stop + 1)
