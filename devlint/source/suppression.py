"""Suppression comments, read from tokens, never from strings.

``# noqa: DEV101`` counts at the end of any line of a statement, for a compound statement of its header;
``# devlint: ignore[DEV101] reason`` there too, or on a line of its own above; ``# devlint: file-ignore[DEV3]``
anywhere, for the whole file.
"""

from __future__ import annotations

import bisect
import io
import re
import tokenize
from collections.abc import Sequence

from devlint.records import dataclass

# Compiled by their first use: most runs see no such comment. None goes twice over the same text, however long it is.
_MAY_SUPPRESS = r"noqa|devlint\s*+:"

_CODE = r"[A-Za-z]++[0-9]++"
_NOQA = rf"#\s*+noqa(?:\s*+:\s*+(?P<codes>{_CODE}(?:(?:\s*+,\s*+|\s++){_CODE})*))?(?![\w:])"
_DEVLINT = (
    r"#\s*+devlint\s*+:\s*+(?P<kind>file-ignore|ignore)\b\s*+(?:\[(?P<codes>[^\]#\r\n]*+)\])?(?P<reason>[^#\r\n]*+)"
)


@dataclass(frozen=True, slots=True)
class Selector:
    """One code or prefix of a comment. ``start`` and ``end`` are character offsets into the text."""

    code: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Suppression:
    """One suppression comment and the lines that it covers."""

    kind: str
    """``noqa``, ``ignore`` or ``file-ignore``."""
    selectors: tuple[Selector, ...]
    """The codes named; empty for a bare comment."""
    first_line: int
    last_line: int
    """The lines of the statement it covers; the whole file has no last line worth naming."""
    line: int
    column: int
    start: int
    end: int
    """The comment's own part of the text, as character offsets."""
    own_line: bool

    def covers(self, lines: tuple[int, ...]) -> bool:
        return self.kind == "file-ignore" or any(self.first_line <= line <= self.last_line for line in lines)


@dataclass(frozen=True, slots=True)
class _Comment:
    text: str
    line: int
    column: int
    own_line: bool
    first_line: int
    last_line: int
    """The logical line it stands in or, on a line of its own between statements, the next one."""


def read_suppressions(text: str, segments: Sequence[int] = (0,)) -> list[Suppression]:
    """Every suppression comment of a file, in order of place. No comment counts beyond the segment that it stands in.

    ``segments`` are the character offsets of the lines at which segments begin: the cells of a notebook.
    """
    lowered = text.lower()  # the search is ten times as slow where it ignores the case
    if "noqa" not in lowered and "devlint" not in lowered:
        return []
    if re.search(_MAY_SUPPRESS, text, re.I) is None:
        return []
    starts = [0]
    starts.extend(match.end() for match in re.finditer(r"\r\n|\r|\n", text))
    found: list[Suppression] = []
    for start, end in zip(segments, (*segments[1:], len(text)), strict=True):
        lines_before = bisect.bisect_left(starts, start)
        for comment in _comments(text[start:end], lines_before):
            offset = starts[comment.line - 1] + comment.column - 1
            found.extend(_parse(comment, offset))
    return found


def has_directives(suppressions: Sequence[Suppression]) -> bool:
    """Whether a comment is for devlint, or names a code that may be devlint's. Such a one may be reported as unused."""
    return any(
        suppression.kind != "noqa" or any(code == "ALL" or code.startswith("D") for code in codes)
        for suppression in suppressions
        for codes in [[selector.code for selector in suppression.selectors]]
    )


def _comments(text: str, lines_before: int) -> list[_Comment]:
    """The comments with the logical lines they belong to, as far as the tokenizer gets."""
    found: list[_Comment] = []
    waiting: list[tuple[tokenize.TokenInfo, bool]] = []
    first: int | None = None

    def settle(first_line: int, last_line: int) -> None:
        for token, own_line in waiting:
            line, first_of, last_of = (number + lines_before for number in (token.start[0], first_line, last_line))
            found.append(_Comment(token.string, line, token.start[1] + 1, own_line, first_of, last_of))
        waiting.clear()

    last = 0
    try:
        # A lone carriage return ends a line for Python's parser but not for its tokenizer.
        for token in tokenize.generate_tokens(io.StringIO(_with_newlines(text)).readline):
            if token.type == tokenize.COMMENT:
                own_line = not token.line[: token.start[1]].strip()
                waiting.append((token, own_line))
            elif token.type == tokenize.NEWLINE:
                settle(first if first is not None else token.start[0], token.start[0])
                first = None
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
                if first is None:
                    first = token.start[0]
                last = token.end[0]
    except (tokenize.TokenError, SyntaxError):
        pass
    settle(first if first is not None else last + 1, max(last, first or 0))
    return found


def _with_newlines(text: str) -> str:
    return re.sub(r"\r(?!\n)", "\n", text) if "\r" in text else text


def _parse(comment: _Comment, offset: int) -> list[Suppression]:
    found: list[Suppression] = []
    for match in re.finditer(_NOQA, comment.text, re.I):
        if not comment.own_line:
            found.append(_suppression("noqa", comment, match, offset))
    for match in re.finditer(_DEVLINT, comment.text, re.I):
        found.append(_suppression(match["kind"].lower(), comment, match, offset))
    return found


def _suppression(kind: str, comment: _Comment, match: re.Match[str], offset: int) -> Suppression:
    selectors: list[Selector] = []
    if match["codes"] is not None:
        base = offset + match.start("codes")
        for code in re.finditer(r"[^\s,]+", match["codes"]):
            selectors.append(Selector(code[0].upper(), base + code.start(), base + code.end()))
    end = offset + len(comment.text[: match.end()].rstrip())
    return Suppression(
        kind=kind,
        selectors=tuple(selectors),
        first_line=comment.first_line,
        last_line=comment.last_line,
        line=comment.line,
        column=comment.column + match.start(),
        start=offset + match.start(),
        end=end,
        own_line=comment.own_line and match.start() == 0,
    )
