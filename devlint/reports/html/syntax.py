"""Which parts of a source are keywords, strings, numbers and comments: only for their colours."""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Sequence

Span = tuple[int, int, str]
"""First and last-but-one column, from 0, and the class of the style sheet."""

_KINDS = {tokenize.STRING: "s", tokenize.COMMENT: "c", tokenize.NUMBER: "n"}
_KINDS |= {
    getattr(tokenize, name): "s"
    for name in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
    if hasattr(tokenize, name)
}


def spans(lines: Sequence[str]) -> dict[int, list[Span]]:
    """The coloured parts by line, from 1; what comes after something that is no Python stays plain."""
    found: dict[int, list[Span]] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n", newline="\n").readline):
            kind = _KINDS.get(token.type) or ("k" if _is_keyword(token) else "")
            if kind:
                _add(found, token, kind, lines)
    except (tokenize.TokenError, SyntaxError):
        pass
    return found


def _is_keyword(token: tokenize.TokenInfo) -> bool:
    return token.type == tokenize.NAME and keyword.iskeyword(token.string)


def _add(found: dict[int, list[Span]], token: tokenize.TokenInfo, kind: str, lines: Sequence[str]) -> None:
    (first, start), (last, end) = token.start, token.end
    for line in range(first, min(last, len(lines)) + 1):
        left = start if line == first else 0
        right = end if line == last else len(lines[line - 1])
        if left < right:
            found.setdefault(line, []).append((left, right, kind))
