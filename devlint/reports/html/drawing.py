"""The code of a finding with its trace drawn along the lines."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from devlint.finding import Finding, Place
from devlint.reports.html.markup import plain, prose
from devlint.reports.html.rail import rail, step_kind
from devlint.reports.html.rows import CodeRow, FileRow, GapRow, Row, StepRow, rows
from devlint.reports.html.syntax import Span, spans
from devlint.reports.painting import cells
from devlint.reports.source_lines import SourceLines
from devlint.reports.wording import step_words

_TAB = 4
_MOST_COLUMNS = 1_000
"""How much of a line is shown: minified files have lines of a megabyte."""


class Drawings:
    """Draws findings, remembering the colours of each file."""

    def __init__(self, source: SourceLines) -> None:
        self._source = source
        self._spans: dict[tuple[str, int], Mapping[int, list[Span]]] = {}

    def figure(self, finding: Finding) -> str:
        """The drawing, empty where neither source nor trace can be shown."""
        shown = rows(finding, self._source)
        if not shown:
            return ""
        beside = rail(finding.trace, shown) if finding.trace else ""
        numbers = "".join(f'<span class="row">{_number(row)}</span>' for row in shown)
        code = "".join(self._row(row, finding) for row in shown)
        return (
            '<figure class="drawing">'
            f"{beside}"
            f'<div class="numbers" aria-hidden="true">{numbers}</div>'
            + f'<div class="lines" tabindex="0">{code}</div></figure>'
        )

    def _row(self, row: Row, finding: Finding) -> str:
        if isinstance(row, FileRow):
            cell = f", cell {row.place.cell}" if row.place.cell else ""
            return f'<span class="row name">{plain(row.place.path)}{cell}</span>'
        if isinstance(row, GapRow):
            return f'<span class="row gap">{row.count} line{"s" if row.count > 1 else ""} left out</span>'
        if isinstance(row, StepRow):
            indent = " " * _indent(self._source.of(row.step.place), row.step.place, row.margin)
            kind = step_kind(finding.trace, row.number)
            told = f"<b>{row.number}</b> {prose(step_words(row.step))}"
            return f'<span class="row step {kind}"><span class="pad">{indent}╰ </span>{told}</span>'
        marks = [(finding.place, f"flag {finding.severity.label}")]
        marks += [
            (step.place, f"mark {step_kind(finding.trace, number)}") for number, step in enumerate(finding.trace, 1)
        ]
        return f'<span class="row code">{self._line(row, marks)}</span>'

    def _line(self, row: CodeRow, marks: Sequence[tuple[Place, str]]) -> str:
        shown = slice(row.margin, row.margin + _MOST_COLUMNS)
        text = row.text[shown]
        colours: list[Span] = [(start - row.margin, end - row.margin, kind) for start, end, kind in self._colours(row)]
        covered: list[Span] = []
        for place, name in sorted(marks, key=lambda mark: _size(mark[0]), reverse=True):
            if (place.path, place.cell) == (row.file.path, row.file.cell) and place.column >= 1:
                covered += _on_line(place, row, text, name)
        return _painted(text, colours, covered) + ("…" if len(row.text) > shown.stop else "")

    def _colours(self, row: CodeRow) -> list[Span]:
        key = (row.file.path, row.file.cell)
        if key not in self._spans:
            self._spans[key] = spans(self._source.of(row.file))
        return self._spans[key].get(row.number, [])


def _number(row: Row) -> str:
    return str(row.number) if isinstance(row, CodeRow) else ""


def _size(place: Place) -> tuple[int, int]:
    return (place.end_line - place.line, place.end_column - place.column)


def _on_line(place: Place, row: CodeRow, text: str, name: str) -> list[Span]:
    """The part of a place on one line as it is shown, from the first word on."""
    if not place.line <= row.number <= max(place.end_line, place.line):
        return []
    start = place.column - 1 - row.margin if row.number == place.line else len(text) - len(text.lstrip())
    end = place.end_column - 1 - row.margin if row.number == place.end_line else len(text.rstrip())
    start = min(max(start, 0), len(text))
    return [(start, max(min(end, len(text)), start), name)]


def _painted(text: str, colours: Sequence[Span], marks: Sequence[Span]) -> str:
    """The line in pieces of one look. Of marks within each other the later one, which is the smaller, underlines."""
    inner = {edge for start, end, _ in (*colours, *marks) for edge in (start, end) if 0 <= edge <= len(text)}
    edges = sorted(inner | {0, len(text)})
    made: list[str] = []
    column = 0
    for start, end in itertools.pairwise(edges):
        piece = text[start:end]
        shown, column = _expanded(piece, column)
        names = [name for left, right, name in colours if left <= start and end <= right]
        covering = [name for left, right, name in marks if left <= start and end <= right]
        names += [name for name in covering if name.startswith("flag")][:1]
        names += [name for name in covering if name.startswith("mark")][-1:]
        made.append(f'<span class="{" ".join(names)}">{plain(shown)}</span>' if names else plain(shown))
    # A mark of no width: something is missing at the end of the line.
    missing = [name for left, right, name in marks if left == right == len(text) and name.startswith("flag")]
    made += [f'<span class="{name}"> </span>' for name in missing[:1]]
    return "".join(made)


def _expanded(text: str, column: int) -> tuple[str, int]:
    """The text with blanks for tabs, and the column after it."""
    made = ""
    for character in text:
        piece = " " * (_TAB - column % _TAB) if character == "\t" else character
        made += piece
        column += len(piece)
    return made, column


def _indent(lines: Sequence[str], place: Place, margin: int) -> int:
    """Under which cell a step is told: where its place begins, but not so far right that the words are lost."""
    text = lines[place.line - 1][margin : max(place.column - 1, 0)] if 1 <= place.line <= len(lines) else ""
    return min(cells(_expanded(text, 0)[0]), 48)
