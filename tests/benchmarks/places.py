"""Places in public repositories, by commit: bugs that maintainers fixed, and correct code that looks like one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from linting import Finding

WITHIN = 2
"""A finding counts as the place's if it is at most this many lines from it."""

CAUSES = {
    "parameter": "evidence of what a parameter, a loop variable or an item is",
    "unknown": "a needless unknown: an operation, a call or a join that loses a known place",
    "convention": "what sits where the module or the caller's tensors do, by convention only",
    "state": "what attributes, buffers and objects hold",
    "callers": "who calls whom with what: helpers, callbacks, nested functions, scripts",
    "conditions": "guards: which branches go together, what a test says of a place",
    "rule": "a rule that is narrower than its idea",
    "library": "a fact of a library",
    "runtime": "configuration, launch or the user's placement: not settled by the code",
    "elsewhere": "said at another line of the same cause",
    "doubtful": "perhaps no bug",
}
"""Why a bug was missed: the link that is missing, as a label of the manifest."""


@dataclass(frozen=True)
class Bug:
    """A bug as the history has it: its lines in the fix's parent, and the same place after the fix."""

    id: str
    repo: str
    parent: str
    fix: str
    path: str
    lines: tuple[int, ...]
    """The line at fault, then others at which the bug may as well be told."""
    fixed_path: str
    fixed_lines: tuple[int, ...]
    function: str
    """Its qualified name; empty at the top level of the module."""
    kind: str
    local: bool
    """Whether the function alone shows the bug."""
    cause: str | None
    """Why it was missed, one of CAUSES; None where nobody has looked into it."""
    why: str


@dataclass(frozen=True)
class Lookalike:
    """A correct place that has the form of a bug."""

    id: str
    repo: str
    commit: str
    path: str
    line: int
    function: str
    category: str
    why: str


def read_bugs(file: Path) -> list[Bug]:
    """The bugs of a manifest. Raises ValueError naming the file and line of a record that is not one."""

    def bug(record: dict[str, Any]) -> Bug:
        found = Bug(**record | {name: tuple(record[name]) for name in ("lines", "fixed_lines")})
        _check_texts(found, "id", "repo", "parent", "fix", "path", "fixed_path", "kind", "why")
        if not found.lines or not found.fixed_lines or not all(_is_line(n) for n in found.lines + found.fixed_lines):
            raise ValueError("lines and fixed_lines must be line numbers")
        if not isinstance(found.local, bool):
            raise ValueError(f"local is {found.local!r}")
        if found.cause is not None and found.cause not in CAUSES:
            raise ValueError(f"cause is {found.cause!r}, not one of {', '.join(CAUSES)}")
        return found

    return _records(file, bug)


def read_lookalikes(file: Path) -> list[Lookalike]:
    """The correct places of a manifest. Raises ValueError naming the file and line of a record that is not one."""

    def lookalike(record: dict[str, Any]) -> Lookalike:
        found = Lookalike(**record)
        _check_texts(found, "id", "repo", "commit", "path", "category", "why")
        if not _is_line(found.line):
            raise ValueError(f"line is {found.line!r}")
        return found

    return _records(file, lookalike)


_Place = TypeVar("_Place", Bug, Lookalike)


def _records(file: Path, read: Callable[[dict[str, Any]], _Place]) -> list[_Place]:
    places: dict[str, _Place] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            place = read(json.loads(line))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{file}:{number}: not a place: {error}") from None
        if place.id in places:
            raise ValueError(f"{file}:{number}: the id {place.id} twice")
        places[place.id] = place
    return list(places.values())


def _check_texts(place: Bug | Lookalike, *names: str) -> None:
    for name in names:
        value = getattr(place, name)
        if not isinstance(value, str) or not value.strip() or "\n" in value:
            raise ValueError(f"{name} is {value!r}, not one line of text")


def _is_line(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number > 0


def near(findings: Iterable[Finding], path: str, lines: Iterable[int]) -> tuple[Finding, ...]:
    """The findings in ``path`` whose first line is at most two from one of ``lines``; DEV9 is not about placement."""
    around = _around(lines)
    return tuple(
        finding
        for finding in findings
        if finding["path"] == path and finding["line"] in around and not finding["code"].startswith("DEV9")
    )


def leading_to(findings: Iterable[Finding], path: str, lines: Iterable[int]) -> tuple[Finding, ...]:
    """The findings that stand elsewhere, in any file, and whose trace comes by: a caller's, for a helper's bug."""
    around = _around(lines)
    return tuple(
        finding
        for finding in findings
        if not (finding["path"] == path and finding["line"] in around)
        and not finding["code"].startswith("DEV9")
        and any(step["path"] == path and step["line"] in around for step in finding["trace"])
    )


def without(findings: Iterable[Finding], others: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that are not among others of another commit, whatever lines they stand at."""
    known = {_identity(finding) for finding in others}
    return tuple(finding for finding in findings if _identity(finding) not in known)


def _identity(finding: Finding) -> tuple[str, str, str, str]:
    return finding["path"], finding["code"], finding["scope"], finding["message"]


def _around(lines: Iterable[int]) -> set[int]:
    return {place for line in lines for place in range(line - WITHIN, line + WITHIN + 1)}
