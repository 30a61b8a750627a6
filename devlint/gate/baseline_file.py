"""The baseline's file: JSON with one entry a line, sorted, so that two branches' changes to it merge.

The list ends with an empty entry. So every line of an entry ends alike, a new last one changes no other line, and what
git's ``union`` merge makes of two branches is valid too: an entry given twice counts as often as it says at most.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from devlint.configuration.configfile import ConfigurationError
from devlint.gate.matching import Key
from devlint.source.reading import MAX_RECORD_BYTES, read_file, reason
from devlint.source.writing import write_atomically

FORMAT_VERSION = 1
DEFAULT_NAME = ".devlint-baseline.json"

_FIELDS = ("path", "code", "scope", "text")
_CONFLICT_MARKS = ("<<<<<<< ", "||||||| ", ">>>>>>> ")


class BaselineError(ConfigurationError):
    """A baseline that cannot be used: the message is one line, begins with the file and says what to do."""


def read_baseline(file: Path, shown_as: str) -> Counter[Key]:
    """How often each finding is known. Raises BaselineError, also where there is no such file."""
    try:
        text = read_file(file, MAX_RECORD_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        raise BaselineError(f"{shown_as}: no such baseline; `devlint baseline write` makes one") from None
    except OSError as error:
        raise BaselineError(f"{shown_as}: cannot be read: {reason(error)}") from None
    except UnicodeDecodeError:
        raise BaselineError(f"{shown_as}: not a baseline: it is not UTF-8 text") from None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(_CONFLICT_MARKS):
            raise BaselineError(
                f"{shown_as}:{number}: an unresolved merge conflict; keep the lines of both sides, or check out one"
                " and run `devlint baseline write`"
            )
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise BaselineError(f"{shown_as}:{error.lineno}: not valid JSON: {error.msg.lower()}") from None
    except RecursionError:
        raise BaselineError(f"{shown_as}: not a baseline: it is nested too deeply") from None
    except ValueError as error:  # a number of more digits than Python turns into one
        raise BaselineError(f"{shown_as}: not a baseline: {str(error).split(';')[0].lower()}") from None
    return _entries(document, text, shown_as)


def _entries(document: Any, text: str, shown_as: str) -> Counter[Key]:
    if not isinstance(document, dict) or not isinstance(document.get("entries"), list):
        raise BaselineError(f"{shown_as}: not a baseline: it has no list of `entries`")
    version = document.get("version")
    if version != FORMAT_VERSION or isinstance(version, bool):
        told = "no version" if version is None else f"version {version!r}"
        raise BaselineError(f"{shown_as}: {told}; this devlint reads version {FORMAT_VERSION}")
    known: Counter[Key] = Counter()
    for number, entry in enumerate(document["entries"], 1):
        if entry == {}:
            continue
        problem = _problem(entry)
        if problem:
            raise BaselineError(f"{shown_as}{_line_of(text, number)}: entry {number} {problem}")
        key = Key(entry["path"], entry["scope"], entry["code"], entry["text"])
        known[key] = max(known[key], entry.get("count", 1))
    return known


def _problem(entry: Any) -> str:
    """What is wrong with an entry; empty if nothing is."""
    if not isinstance(entry, dict):
        return "is no object"
    for field in _FIELDS:
        if not isinstance(entry.get(field), str):
            return f"has no `{field}`" if field not in entry else f"has a `{field}` that is no string"
    unknown = set(entry) - {*_FIELDS, "count"}
    if unknown:
        return f"has an unknown field `{min(unknown)}`"
    count = entry.get("count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        return f"has the count {count!r}; it must be a positive integer"
    return ""


def _line_of(text: str, number: int) -> str:
    """``:LINE`` of an entry where it stands on a line of its own, as devlint writes it; else nothing."""
    lines = text.splitlines()
    first = next((index for index, line in enumerate(lines) if '"entries"' in line), len(lines))
    index = first + number
    return f":{index + 1}" if index < len(lines) and lines[index].rstrip().endswith("},") else ""


def render_baseline(known: Mapping[Key, int]) -> str:
    """The file's text."""
    lines = [_line(key, count) for key, count in sorted(known.items()) if count > 0]
    entries = "".join(f"{line},\n" for line in lines)
    return f'{{\n"version": {FORMAT_VERSION},\n"entries": [\n{entries}{{}}\n]\n}}\n'


def _line(key: Key, count: int) -> str:
    entry = {"path": key.path, "scope": key.scope, "code": key.code, "text": key.text}
    if count > 1:
        entry["count"] = count  # type: ignore[assignment]
    line = json.dumps(entry, ensure_ascii=False)
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:  # a file name that is not UTF-8
        line = json.dumps(entry)
    return line


def write_baseline(file: Path, known: Mapping[Key, int]) -> bool:
    """Write the file at once or not at all; one that says the same already is not touched. Raises BaselineError."""
    data = render_baseline(known).encode("utf-8")
    try:
        with contextlib.suppress(OSError):
            if read_file(file, MAX_RECORD_BYTES) == data:
                return False
        write_atomically(file, data)
    except OSError as error:
        raise BaselineError(f"{file}: cannot be written: {(error.strerror or str(error)).lower()}") from None
    return True
