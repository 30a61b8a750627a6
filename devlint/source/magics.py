"""IPython's own syntax in a cell, blanked so that what is left is Python on the same lines and at the same offsets.

Which lines are IPython's is decided over tokens, as IPython's ``inputtransformer2`` does: a ``%`` at the beginning of a
line is an operator inside of brackets and a magic outside of them.
"""

from __future__ import annotations

import re

from devlint.source.python_parser import parse
from devlint.source.string_pattern import STRING

PYTHON_CELL_MAGICS = frozenset(
    {"capture", "debug", "ipytest", "prun", "pypy", "python", "python2", "python3", "time", "timeit"}
)
"""Cell magics whose body is Python. Any other makes its cell something else: shell, HTML, a file to be written."""

_TOKEN = re.compile(
    rf"""
      (?P<comment> \#[^\r\n]*)
    | {STRING}
    | (?P<joined> \\[ \t]*(?:\r\n|\r|\n))
    | (?P<end> \r\n|\r|\n)
    | (?P<open> [\[({{])
    | (?P<close> [\])}}])
    | (?P<help> \?\??(?=[ \t]*(?:\#[^\r\n]*)?(?:\r|\n|\Z)))
    | (?P<assigned> (?<![=!<>:+\-*/%&|^@~])=[ \t]*(?=[%!]))
    | (?P<other> \w+ | [^\s\w])
    """,
    re.X | re.S,
)
_BLANK = re.compile(r"(?:[ \t\f]|\r\n|\r|\n)*")
_SPACE = re.compile(r"[ \t\f]*")
_CELL_MAGIC = re.compile(r"(?:\s|#[^\r\n]*+)*+%%(?P<name>\w+)(?!\w*\?)")
_ESCAPED = re.compile(r"[%!?,;/]")
_AUTOMATIC = re.compile(
    r"(?:pip3?|conda|mamba|micromamba|uv)[ \t]+(?:install|uninstall|list|show|freeze|update|create|pip|add)\b"
)
"""Magics that work without their ``%`` and that no line of Python can begin with."""

_COMMAND = re.compile(r"(?:\\[ \t]*(?:\r\n|\r|\n)|[^\r\n])*")
"""A command goes on after a backslash."""

_RUNS_PYTHON = re.compile(r"%time[ \t]+")


def python_of(cell: str) -> str | None:
    """The Python in a cell, character by character in its place; None if the cell is something else by its magic.

    A command becomes ``0``, what a command returns ``[]`` (lines of a shell) or ``_()``, the rest of each blanks. The
    statement behind ``%time`` runs in the notebook and stays.
    """
    magic = _CELL_MAGIC.match(cell)
    if magic and magic["name"] not in PYTHON_CELL_MAGICS:
        return None
    if not re.search(r"[%!?]|^[ \t]*[,;/]|^[ \t]*(?:pip|conda|mamba|micromamba|uv)", cell, re.M):
        return cell
    done: list[str] = []
    at = 0
    while at < len(cell):
        start = _end(_BLANK, cell, at)
        start = max(start, at)
        done.append(cell[at:start])
        if start == len(cell):
            break
        at, python = _logical_line(cell, start)
        done.append(python)
    return "".join(done)


def _logical_line(cell: str, start: int) -> tuple[int, str]:
    """Where the logical line at ``start`` ends, and its Python."""
    if _ESCAPED.match(cell, start) or _AUTOMATIC.match(cell, start):
        end = _end(_COMMAND, cell, start)
        return end, _statement(cell[start:end])
    depth = 0
    at = start
    while at < len(cell):
        token = _TOKEN.match(cell, at := _end(_SPACE, cell, at))
        if token is None:
            break
        at = token.end()
        match token.lastgroup:
            case "open":
                depth += 1
            case "close":
                depth = max(depth - 1, 0)
            case "end" if depth == 0:
                return at, cell[start:at]
            case "help" if depth == 0:
                return at, _filled("0", cell[start:at])
            case "assigned" if depth == 0:
                end = _end(_COMMAND, cell, at)
                return end, cell[start:at] + _value(cell[at:end])
    return len(cell), cell[start:]


def _statement(command: str) -> str:
    timed = _RUNS_PYTHON.match(command)
    if timed and _is_python(timed_code := command[timed.end() :]):
        # The value of an expression is shown: behind a comma it is part of a tuple and counts as used.
        return _filled("0," if _is_python(f"({timed_code}\n)") else "0;", timed[0]) + timed_code
    return _filled("0", command)


def _value(command: str) -> str:
    timed = _RUNS_PYTHON.match(command)
    if timed and _is_python(command[timed.end() :]):
        return _filled("", timed[0]) + command[timed.end() :]
    if len(command) == 1:
        return command
    return _filled("[]" if command.startswith("!") else "_()" if len(command) > 2 else "_", command)


def _filled(python: str, command: str) -> str:
    """``python`` in the place of a command: as many characters, on as many lines."""
    return python + re.sub(r"[^\r\n]", " ", command[len(python) :])


def _is_python(text: str) -> bool:
    try:
        parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
