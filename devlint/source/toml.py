"""TOML that anybody may have written: read within bounds, and refused in one line with its place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from devlint.source.reading import MAX_SETTINGS_BYTES, read_file, reason

MAX_DOTS = 100
"""Parts of one dotted key; the time that :mod:`tomllib` takes grows with their square and more."""

_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|\'[^\']*+\'')
_LONG_KEY = re.compile(rf"(?:\.[^.,\[\]{{}}=#]*+){{{MAX_DOTS}}}")


class NoToml(Exception):
    """The message says why; ``line`` where, 0 for nowhere."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def load_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a file, without its byte order mark, and what it says. Raises :class:`NoToml`."""
    try:
        data = read_file(path, MAX_SETTINGS_BYTES)
    except OSError as error:
        raise NoToml(f"cannot be read: {reason(error)}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise NoToml(f"cannot be read: byte 0x{data[error.start]:02x} is not valid UTF-8", line) from None
    return text, parse_toml(text)


def parse_toml(text: str) -> dict[str, Any]:
    """Raises :class:`NoToml`."""
    if text.startswith("\ufeff"):
        raise NoToml("not valid TOML: it begins with two byte order marks", 1)
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") >= MAX_DOTS and _LONG_KEY.search(_STRING.sub("", line)):
            raise NoToml(f"a key has more than {MAX_DOTS} parts", number)
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at line (\d+), column (\d+)\)", str(error))
        line_number = int(place[1]) if place else max(len(text.splitlines()), 1)  # without a place it is the end
        raise NoToml(f"not valid TOML: {str(error).split(' (at ')[0].lower()}", line_number) from None
    except RecursionError:
        raise NoToml("not valid TOML: its tables or arrays are nested too deeply", _deepest_line(text)) from None
    except ValueError as error:  # a number of more digits than Python turns into one
        raise NoToml(f"not valid TOML: {str(error).split(';')[0].lower()}") from None


def _deepest_line(text: str) -> int:
    """Where the most brackets are open, strings not looked into."""
    depth = deepest = 0
    found = 1
    for number, line in enumerate(text.split("\n"), 1):
        bare = _STRING.sub("", line)
        most = depth + len(re.findall(r"[\[{]", bare))
        if most > deepest:
            deepest, found = most, number
        depth = most - len(re.findall(r"[\]}]", bare))
    return found
