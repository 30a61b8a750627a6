"""The form for people: each finding with its source, the way of the value, and the repair."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from devlint.finding import Applicability, Finding, Place, TraceStep
from devlint.reports.frame import bar, frame, gutter_width
from devlint.reports.painting import SEVERITY_STYLES, Line, visible, wrapped
from devlint.reports.source_lines import SourceLines
from devlint.reports.verdict import verdict_lines

_MOVE = re.compile(r"\b(?:moved|copied|sent|loaded)\b")
_FIX_WORDS = {
    Applicability.SAFE: "fix",
    Applicability.UNSAFE: "unsafe fix",
    Applicability.SUGGESTION: "suggestion",
}


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
    for word, text in _advice(finding):
        advice = [(" " * gutter + " = ", "blue"), (f"{word}: ", "bold"), (visible(text), "")]
        yield from wrapped(advice, width, gutter + 3)


def _trace(finding: Finding, source: SourceLines, width: int | None, gutter: int) -> Iterator[Line]:
    """The numbered steps, each with its place; the source of one that the frame above shows is not repeated."""
    shown: list[Place] = [finding.place]
    for number, step in enumerate(finding.trace, 1):
        place = step.place
        told = [
            (f"{number:>{gutter}} ", "bold cyan"),
            (visible(_words(step)), ""),
            (f" ({visible(place.path)}:{place.position})", "dim"),
        ]
        yield from wrapped(told, width, gutter + 1)
        if place not in shown:
            yield from frame(place, source.of(place), width, gutter, "-", "cyan")
            shown.append(place)
    if finding.trace and (finding.verdict is not None or list(_advice(finding))):
        yield bar(gutter)


def _words(step: TraceStep) -> str:
    """``made here, on cpu``, ``moved here, to cuda``."""
    if step.device is None or step.device in step.message:
        return step.message
    return f"{step.message}, {'to' if _MOVE.search(step.message) else 'on'} {step.device}"


def _advice(finding: Finding) -> Iterator[tuple[str, str]]:
    if finding.help:
        yield "help", finding.help
    fix = finding.fix
    if fix is not None and (fix.edits or fix.message != finding.help):
        yield _FIX_WORDS[fix.applicability], fix.message
