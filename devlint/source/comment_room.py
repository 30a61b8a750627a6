"""Where a comment about a line of code may stand: not inside of a string, not behind a backslash."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence

_STRING_OPENS = {getattr(tokenize, name, -1) for name in ("FSTRING_START", "TSTRING_START")} - {-1}
_STRING_CLOSES = {getattr(tokenize, name, -1) for name in ("FSTRING_END", "TSTRING_END")} - {-1}


def comment_lines(text: str, segments: Sequence[int] = (0,)) -> dict[int, int]:
    """For each line that holds code, the line at whose end a comment on it may be written: itself or a later one of
    its statement (its header, for a compound statement). ``segments`` as in :func:`read_suppressions`.

    What the tokenizer does not understand is left out.
    """
    found: dict[int, int] = {}
    for start, end in zip(segments, (*segments[1:], len(text)), strict=True):
        before = len(re.findall(r"\r\n|\r|\n", text[:start]))
        # A lone carriage return ends a line for Python's parser but not for its tokenizer.
        piece = re.sub(r"\r(?!\n)", "\n", text[start:end])
        for first, last, free in _statements(piece):
            for line in range(first, last + 1):
                found[line + before] = min(at for at in free if at >= line) + before
    return found


def _statements(text: str) -> list[tuple[int, int, list[int]]]:
    """First line, last line, and the lines that a comment may end, of every logical line."""
    found: list[tuple[int, int, list[int]]] = []
    first: int | None = None
    free: list[int] = []
    in_string = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            in_string += (token.type in _STRING_OPENS) - (token.type in _STRING_CLOSES)
            if token.type == tokenize.NEWLINE:
                line = token.start[0]
                found.append((first if first is not None else line, line, [*free, line]))
                first, free = None, []
            elif token.type == tokenize.NL:
                if first is not None and not in_string:
                    free.append(token.start[0])
            elif first is None and token.type not in (
                tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
            ):  # fmt: skip
                first = token.start[0]
    except (tokenize.TokenError, SyntaxError):
        pass
    return found
