"""What devlint holds the expressions of a line to be: for people, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from devlint.finding import Place
from devlint.pipeline.explanation import Explained
from devlint.reports.frame import bar, frame, gutter_width
from devlint.reports.painting import Line, cells, visible, wrapped
from devlint.reports.shortening import clipped
from devlint.reports.source_lines import SourceLines
from devlint.reports.wording import step_words

MOST_TEXT = 40
"""Characters of an expression that are shown; the rest of the report is about it, and the line is above."""


def explained_lines(found: Sequence[Explained], source: SourceLines, width: int | None) -> Iterator[Line]:
    """The source line, then each expression with what it is held to be, the way of its value, and why no more."""
    first = found[0].place
    line = Place(first.path, first.line, 1, first.line, 1)
    gutter = gutter_width([first.line]) + 1
    yield [(visible(first.path), "bold"), (f":{first.line}", "dim")]
    shown = frame(line, source.of(line), width, gutter, "", "")
    yield from [bar(gutter), *shown[:1], bar(gutter)]
    wide = min(max(cells(_text(one)) for one in found), MOST_TEXT)
    for one in found:
        yield from _expression(one, wide, width)


def _expression(one: Explained, wide: int, width: int | None) -> Iterator[Line]:
    text = _text(one)
    told = visible(one.words)
    style = "bold yellow" if one.unknown else ""
    column = f"{one.place.column:>4}  "
    yield from wrapped(
        [(column, "dim"), (f"{text}{' ' * (wide - cells(text))}  ", "bold cyan"), (told, style)], width, wide + 8
    )
    if one.convention:
        yield from _more(one.convention, width)
    for number, step in enumerate(one.trace, 1):
        yield from _more(f"{number} {step_words(step)} ({_at(step.place)})", width)
    for why in one.unknown:
        yield from _more(f"? {why.message} ({_at(why.place)})", width)


def _more(text: str, width: int | None) -> list[Line]:
    return wrapped([("        ", ""), (visible(text), "dim")], width, 10)


def _text(one: Explained) -> str:
    return clipped(visible(" ".join(one.text.split())), MOST_TEXT)


def _at(place: Place) -> str:
    return f"{place.path}:{place.position}"


def explained_json(found: Sequence[Explained]) -> str:
    """A JSON array, an object for each expression."""
    return json.dumps([_object(one) for one in found], indent=2) + "\n"


def _object(one: Explained) -> dict[str, Any]:
    return {
        "text": one.text,
        **_place(one.place),
        "kind": one.kind,
        "description": one.words,
        "device": one.device,
        "convention": one.convention or None,
        "trace": [{"message": step.message, "device": step.device, **_place(step.place)} for step in one.trace],
        "unknown": [{"cause": why.cause, "message": why.message, **_place(why.place)} for why in one.unknown],
    }


def _place(place: Place) -> dict[str, Any]:
    return {
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }
