"""What devlint holds an expression to be, in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from devlint.finding import Place
from devlint.pipeline.explanation import Explained
from devlint.reports.shortening import clipped
from devlint.reports.wording import step_words

MOST_TEXT = 80
"""Characters of an expression that are shown."""

_MARKUP = re.compile(r"([\\*_{}\[\]<>#|~])")


def hover_text(found: Sequence[Explained], path: str) -> str:
    """The innermost of some expressions: its value, how it got there, and why no more is known.

    ``path``: of the document as findings call it; places in other files are told with theirs.
    """
    one = found[0]
    lines = [_code(one.text), "", _prose(_sentence(one.words))]
    if one.convention:
        lines += ["", _prose(_sentence(one.convention))]
    if one.trace:
        lines += [""]
        for number, step in enumerate(one.trace, 1):
            lines.append(f"{number}. {_prose(step_words(step))} ({_at(step.place, path)})")
    if one.unknown:
        lines += ["", "No more is known:", ""]
        lines += [f"- {_prose(why.message)} ({_at(why.place, path)})" for why in one.unknown]
    return "\n".join(lines)


def _code(text: str) -> str:
    shown = clipped(" ".join(text.split()), MOST_TEXT)
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 3)
    return f"{fence}python\n{shown}\n{fence}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _prose(text: str) -> str:
    """Text whose backticks mark code, and that holds no other markup."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _MARKUP.sub(r"\\\1", text.replace("`", r"\`"))
    return "`".join(part if index % 2 else _MARKUP.sub(r"\\\1", part) for index, part in enumerate(parts))


def _at(place: Place, path: str) -> str:
    where = f"line {place.line}"
    return where if place.path == path else f"{_prose(place.path)}, {where}"
