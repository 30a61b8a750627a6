"""The skeleton of a text: each definition's body is its number, an integer alone on a line.

Parsers read signatures, bodies of classes and the module level in it, and skip the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from devlint.records import dataclass
from devlint.source.line_ends import LINE_END
from devlint.source.lines import Lines
from devlint.source.outline import Definition

_BLANKS = re.compile(r"[ \t\f]*")


@dataclass(frozen=True, slots=True)
class Skeleton:
    text: str
    """Whole lines, so that what is parsed has the columns of the file."""
    lines: list[int]
    """The numbers that its lines have in the file, the first at index 0."""


def skeleton_of(text: str, definitions: Sequence[Definition]) -> Skeleton:
    """A body that begins on the line of its header stays."""
    whole = Lines(text)
    texts: list[str] = []
    lines: list[int] = []
    at = 1
    for definition in definitions:
        if not whole.leads(definition.body, definition.column):
            continue
        texts.append(whole.between(at, definition.body - 1))
        lines.extend(range(at, definition.body + 1))
        header = whole.starts[definition.first - 1]
        texts.append(f"{_indent(text, header)}{definition.number}{_end(text, whole, definition.last)}")
        at = definition.last + 1
    texts.append(whole.between(at, len(whole.starts)))
    lines.extend(range(at, len(whole.starts) + 1))
    return Skeleton("".join(texts), lines)


def _indent(text: str, header: int) -> str:
    """Deeper than the header that begins there, whatever it is indented by."""
    found = _BLANKS.match(text, header)
    return (found[0] if found else "") + " "


def _end(text: str, whole: Lines, line: int) -> str:
    """The line end of a line of the file."""
    after = whole.starts[line] if line < len(whole.starts) else len(text)
    found = LINE_END.search(text, whole.starts[line - 1], after)
    return found[0] if found else "\n"
