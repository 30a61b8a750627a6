"""The source lines of a place with what is meant underlined, fitted to the width at hand."""

from __future__ import annotations

from collections.abc import Sequence

from devlint.finding import Place
from devlint.reports.painting import Line, cells, visible

TAB_CELLS = 4
UNLIMITED_CELLS = 160
"""How much of a source line is shown where there is no terminal whose width could be asked."""

_MOST_LINES = 6
_CUT = "..."


def frame(
    place: Place, lines: Sequence[str], width: int | None, gutter: int, mark: str, style: str, context: int = 0
) -> list[Line]:
    """The lines of ``place`` between bars, underlined with ``mark``; a long region is shown by its two ends.

    ``lines`` is the whole file; ``context`` how many lines around the place are shown too. Empty if the place is
    outside of the file.
    """
    if not 1 <= place.line <= len(lines):
        return []
    room = _room(width, gutter)
    last = min(max(place.end_line, place.line), len(lines))
    drawn: list[Line] = []
    for number in _around(range(place.line - context, place.line), lines):
        drawn.append(_source(number, lines[number - 1], room, gutter, "dim"))
    shown = list(range(place.line, last + 1))
    if len(shown) > _MOST_LINES:
        shown = [*shown[: _MOST_LINES // 2], 0, *shown[-(_MOST_LINES // 2 - 1) :]]
    for number in shown:
        if number == 0:
            drawn.append([(f"{_CUT:>{gutter}} ", "blue")])
            continue
        drawn.extend(_underlined(number, place, lines[number - 1], room, gutter, mark, style))
    for number in _around(range(last + 1, last + 1 + context), lines):
        drawn.append(_source(number, lines[number - 1], room, gutter, "dim"))
    return drawn


def clipped(line: str, width: int | None, gutter: int) -> str:
    """A line as the frame shows it: control characters visible, cut to the room at hand."""
    return _clipped(_expanded(line)[0], 0, 0, _room(width, gutter))[0]


def _room(width: int | None, gutter: int) -> int:
    return max((width or UNLIMITED_CELLS + gutter + 3) - gutter - 3, 20)


def bar(gutter: int) -> Line:
    """An empty line of a frame."""
    return [(" " * gutter + " |", "blue")]


def gutter_width(numbers: Sequence[int]) -> int:
    """How many columns the largest of some line numbers takes."""
    return max((len(str(number)) for number in numbers), default=1)


def _around(numbers: range, lines: Sequence[str]) -> list[int]:
    return [number for number in numbers if 1 <= number <= len(lines) and lines[number - 1].strip()]


def _source(number: int, line: str, room: int, gutter: int, style: str) -> Line:
    text, _ = _expanded(line)
    return [(f"{number:>{gutter}} | ", "blue"), (_clipped(text, 0, 0, room)[0], style)]


def _underlined(number: int, place: Place, line: str, room: int, gutter: int, mark: str, style: str) -> list[Line]:
    text, starts = _expanded(line)
    first = place.column - 1 if number == place.line else len(line) - len(line.lstrip())
    end = place.end_column - 1 if number == place.end_line else len(line.rstrip())
    # A place may lie one beyond the line (a syntax error at its end) or, if the file changed, anywhere.
    start = starts[min(max(first, 0), len(line))]
    stop = max(starts[min(max(end, 0), len(line))], start)
    clipped, left, skipped = _clipped(text, start, stop, room)
    before = min(cells(text[skipped:start]) + left, room - 1)
    length = max(min(cells(text[start:stop]), room - before), 1)
    source: Line = [(f"{number:>{gutter}} | ", "blue"), (clipped.rstrip(), "")]
    return [source, [(" " * gutter + " | ", "blue"), (" " * before, ""), (mark * length, style)]]


def _expanded(line: str) -> tuple[str, list[int]]:
    """The line as it is shown, and for each of its columns, the end included, the index in what is shown."""
    if "\t" not in line and line.isprintable():
        return line, list(range(len(line) + 1))
    shown: list[str] = []
    starts: list[int] = []
    length = 0
    for character in line:
        starts.append(length)
        text = " " * (TAB_CELLS - length % TAB_CELLS) if character == "\t" else visible(character)
        shown.append(text)
        length += len(text)
    starts.append(length)
    return "".join(shown), starts


def _clipped(text: str, start: int, stop: int, room: int) -> tuple[str, int, int]:
    """The part of a text around ``start:stop`` that fits into ``room`` cells.

    With it how many cells a mark of omission takes on the left, and the index of the first character shown.
    """
    if cells(text) <= room:
        return text, 0, 0
    if cells(text[:stop]) + len(_CUT) <= room:
        return _fitting(text, room - len(_CUT)) + _CUT, 0, 0
    # Show what is meant from about a third of the room on, with some of what comes before it.
    wanted = min(cells(text[start:stop]), room - 2 * len(_CUT))
    before = min(max(room - 2 * len(_CUT) - wanted, 0), room // 3)
    skipped = start
    while skipped > 0 and cells(text[skipped - 1 : start]) <= before:
        skipped -= 1
    rest = text[skipped:]
    left = _CUT if skipped else ""
    if cells(rest) + len(left) <= room:
        return left + rest, len(left), skipped
    return left + _fitting(rest, room - len(left) - len(_CUT)) + _CUT, len(left), skipped


def _fitting(text: str, room: int) -> str:
    """The longest beginning of a text that takes at most ``room`` cells."""
    if text.isascii():
        return text[: max(room, 0)]
    taken = 0
    for index, character in enumerate(text):
        taken += cells(character)
        if taken > room:
            return text[:index]
    return text
