"""The text of an expression that reformatting does not change: the textual part of a finding's identity."""

from __future__ import annotations

import keyword
import re

_TOKEN = re.compile(
    r"""
      (?P<blank> [\s\\]+ | \#[^\r\n]*)
    | (?P<string> (?P<prefix>[A-Za-z]{0,2}) (?P<quote>\"{3}|'{3}|"|')
                  (?P<body>(?:\\.|(?!(?P=quote))[^\\])*+) (?P=quote))
    | (?P<number> 0[xXoObB][\da-fA-F_]+ | (?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*) (?:[eE][+-]?\d[\d_]*)? [jJ]?)
    | (?P<word> \w+)
    | (?P<operator> \*\*=?|//=?|<<=?|>>=?|->|:=|[-+*/%@&|^<>=!]=|\.{3}|[^\s\w])
    """,
    re.X | re.S,
)
_BINARY = frozenset(
    "+ - * / // % @ & | ^ << >> == != < > <= >= := -> += -= *= /= //= %= @= &= |= ^= <<= >>= **=".split()
)
_OPERATORS_BY_NAME = frozenset(keyword.kwlist) - {"True", "False", "None"}


def normalised(code: str) -> str:
    """Code on one line, without comments, trailing commas and anything else a formatter may change.

    Two texts that a formatter makes equal give equal results. The result is a key and need not be valid Python. The
    tokenizer is our own because the tokens of :mod:`tokenize` depend on the version of Python.
    """
    tokens: list[tuple[str, str]] = []
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or ""
        if kind == "blank":
            continue
        text = _string(match) if kind == "string" else match[0].lower() if kind == "number" else match[0]
        if text in (")", "]", "}") and tokens and tokens[-1][1] == ",":
            tokens.pop()
        tokens.append((kind, text))
    return _joined(tokens)


def _string(match: re.Match[str]) -> str:
    """A literal with double quotes where that needs no backslash, and with its prefix in lower case."""
    prefix, quote, body = match["prefix"].lower().replace("u", ""), match["quote"], match["body"]
    if quote == "'" and '"' not in body and "\\'" not in body:
        quote = '"'
    return f"{prefix}{quote}{body}{quote}"


def _joined(tokens: list[tuple[str, str]]) -> str:
    line = ""
    previous: tuple[str, str] = ("", "")
    unary = True
    for kind, text in tokens:
        operand = kind in ("number", "string") or (kind == "word" and text not in _OPERATORS_BY_NAME)
        binary = kind == "operator" and text in _BINARY and not unary
        after_binary = previous[0] == "binary"
        words = previous[0] != "operator" and kind != "operator"
        by_name = (previous[0] == "word" and previous[1] in _OPERATORS_BY_NAME) or (
            kind == "word" and not operand and line[-1:] not in "([{"
        )
        if line and (binary or after_binary or words or by_name or previous[1] == ","):
            line += " "
        line += text
        unary = not operand and text not in (")", "]", "}")
        previous = ("binary" if binary else kind, text)
    return line
