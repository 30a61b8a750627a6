"""The form for people: each finding with its source, the way of the value, and the repair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from devlint.finding import Finding, Place
from devlint.reports.changed_lines import changed_lines
from devlint.reports.frame import bar, clipped, frame, gutter_width
from devlint.reports.painting import SEVERITY_STYLES, Line, visible, wrapped
from devlint.reports.source_lines import SourceLines
from devlint.reports.verdict import verdict_lines
from devlint.reports.wording import advice, step_words


def text_lines(findings: Iterable[Finding], source: SourceLines, width: int | None) -> Iterator[Line]:
    """The whole list of findings, a blank line after each. ``width`` None: no terminal, lines may be long."""
    for finding in findings:
        yield from _finding(finding, source, width)
        yield []


def header(finding: Finding) -> Line:
    """``path:line:col: CODE severity [name] message``: the line that editors and people scan for."""
    place, severity = finding.place, finding.severity.label
    return [
        (visible(place.path), "bold"),
        (f":{place.position}: ", "dim"),
        (finding.code, SEVERITY_STYLES[severity]),
        (" ", ""),
        (severity, SEVERITY_STYLES[severity]),
        (f" [{finding.name}] ", "dim"),
        (visible(finding.message), ""),
    ]


def _finding(finding: Finding, source: SourceLines, width: int | None) -> Iterator[Line]:
    style = SEVERITY_STYLES[finding.severity.label]
    yield from wrapped(header(finding), width, 4)
    places = [finding.place, *(step.place for step in finding.trace)]
    gutter = gutter_width([number for place in places for number in (place.line, place.end_line + 1)]) + 1
    drawn = frame(finding.place, source.of(finding.place), width, gutter, "^", style, context=1)
    if drawn:
        yield bar(gutter)
        yield from drawn
        yield bar(gutter)
    yield from _trace(finding, source, width, gutter)
    if finding.verdict is not None:
        for line in verdict_lines(finding.verdict, gutter):
            yield from wrapped(line, width, gutter + 3)
    for word, text in advice(finding):
        told = [(" " * gutter + " = ", "blue"), (f"{word}: ", "bold"), (visible(text), "")]
        yield from wrapped(told, width, gutter + 3)
    yield from _changes(finding, source, width, gutter)


def _changes(finding: Finding, source: SourceLines, width: int | None, gutter: int) -> Iterator[Line]:
    """The fix itself: the lines that it changes, before and after."""
    for sign, line in changed_lines(finding, source):
        style = "red" if sign == "-" else "green"
        yield [(" " * gutter + f" {sign} ", f"bold {style}"), (clipped(line, width, gutter), style)]


def _trace(finding: Finding, source: SourceLines, width: int | None, gutter: int) -> Iterator[Line]:
    """The numbered steps, each with its place; the source of one that the frame above shows is not repeated."""
    shown: list[Place] = [finding.place]
    for number, step in enumerate(finding.trace, 1):
        place = step.place
        told = [
            (f"{number:>{gutter}} ", "bold cyan"),
            (visible(step_words(step)), ""),
            (f" ({visible(place.path)}:{place.position})", "dim"),
        ]
        yield from wrapped(told, width, gutter + 1)
        if place not in shown:
            yield from frame(place, source.of(place), width, gutter, "-", "cyan")
            shown.append(place)
    if finding.trace and (finding.verdict is not None or list(advice(finding))):
        yield bar(gutter)
