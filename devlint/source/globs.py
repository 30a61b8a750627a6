"""Patterns in the form of ``.gitignore``, matched in linear time: a stranger's pattern must not cost more than others.

Source: git's ``gitignore`` documentation and ``wildmatch.c``. The regular expressions never go back over what a star
has taken: what stands between two stars is taken where it comes first, in an atomic group, as nothing that a later one
could match is lost by that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from devlint.records import dataclass

MAX_LENGTH = 1024
"""Characters of one pattern."""

MAX_WILDCARDS, MAX_WILD_CHARACTERS = 2000, 50_000
"""Patterns with a wildcard in one list, and their characters: each is held against each path, while plain names are
looked up at once."""

_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z", "xdigit": "0-9a-fA-F",
}  # fmt: skip
_NOTHING = "(?!)"
_SEGMENT_END = r"(?=/|\Z)"


class BadGlob(ValueError):
    """A pattern that can match nothing. The message is the end of a sentence."""


class TooMany(ValueError):
    """More patterns than are held against every path."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    include: bool
    directories: bool
    """Whether only directories match."""
    whole: bool
    """Whether the whole path has to match; else its last name."""
    regex: re.Pattern[str]


class Globs:
    """A list of patterns, of which the last that matches decides. Paths are relative, with forward slashes."""

    def __init__(self, lines: Iterable[str]) -> None:
        """What can match nothing counts for nothing, as in git. Raises :class:`TooMany`."""
        self._plain: dict[str, list[tuple[int, bool, bool]]] = {}
        self._wild: list[tuple[int, _Pattern]] = []
        self._characters = 0
        for index, line in enumerate(lines):
            try:
                self._add(index, line)
            except BadGlob:
                continue
        self._wild.reverse()

    def _add(self, index: int, line: str) -> None:
        include, text, directories = _parts(line)
        if "/" not in text and not re.search(r"[*?\[\\]", text):
            self._plain.setdefault(text, []).append((index, include, directories))
            return
        pattern = _regex(text)
        self._characters += len(text)
        if len(self._wild) == MAX_WILDCARDS or self._characters > MAX_WILD_CHARACTERS:
            most = f"{MAX_WILDCARDS:,} patterns with wildcards, of {MAX_WILD_CHARACTERS:,} characters together"
            raise TooMany(f"devlint takes up to {most}")
        self._wild.append((index, _Pattern(include, directories, "/" in text, re.compile(pattern))))

    def verdict(self, path: str, is_directory: bool) -> bool | None:
        """What the patterns say of this path itself: True for a match, False for an exception, None for nothing.

        Of what lies inside of a matching directory nothing is said.
        """
        name = path.rpartition("/")[2]
        best, decided = -1, None
        for index, include, directories in self._plain.get(name, ()):
            if is_directory or not directories:
                best, decided = index, include
        for index, pattern in self._wild:
            if index < best:
                break
            subject = path if pattern.whole else name
            if (is_directory or not pattern.directories) and pattern.regex.match(subject):
                return pattern.include
        return decided

    def covers(self, path: str) -> bool:
        """Whether a file matches, itself or by a directory around it; the innermost that is spoken of counts."""
        directory = False
        while path:
            verdict = self.verdict(path, directory)
            if verdict is not None:
                return verdict
            path, directory = path.rpartition("/")[0], True
        return False


def check_glob(pattern: str) -> None:
    """Raises :class:`BadGlob` for a pattern that can match nothing, or has a range that does not go upwards."""
    _, text, _ = _parts(pattern)
    _regex(text)
    at = 0
    while at < len(text):
        if text[at] == "[":
            _, at = _character_class(text, at + 1, strict=True)
        else:
            at += 2 if text[at] == "\\" else 1


def relative_to(base: str, path: str) -> str | None:
    """An absolute path as the patterns of the absolute directory ``base`` see it; None outside of it."""
    prefix = base.rstrip(os.sep) + os.sep
    return path[len(prefix) :].replace(os.sep, "/") if path.startswith(prefix) else None


def _parts(line: str) -> tuple[bool, str, bool]:
    """Whether a match includes, the pattern itself, and whether it is one of directories."""
    if len(line) > MAX_LENGTH:
        raise BadGlob(f"it has more than {MAX_LENGTH:,} characters")
    if "\0" in line:
        raise BadGlob("no path contains a null byte")
    text = line.rstrip(" ")
    if len(text) < len(line) and (len(text) - len(text.rstrip("\\"))) % 2:
        text += " "  # this one is behind a backslash
    include = not text.startswith("!")
    text = text if include else text[1:]
    directories = text.endswith("/")
    text = text[:-1] if directories else text
    if not text:
        raise BadGlob("it names nothing")
    return include, text, directories


def _regex(text: str) -> str:
    """What the last name of a path must match or, for a pattern with a slash, the path. Raises :class:`BadGlob`."""
    if "/" not in text:
        return _segment(text) + r"\Z"
    segments = _segments(text.removeprefix("/"))
    # One run of names for each stretch between two double stars; each begins where one may end.
    runs: list[list[str]] = [[]]
    for segment in segments:
        if segment != "**":
            runs[-1].append(_segment(segment))
        elif runs[-1] or len(runs) == 1:
            runs.append([])
    first, *others = ["/".join(run) for run in runs]
    if not others:
        return first + r"\Z"
    skipped = "(?:[^/]+/)*?"
    parts = [first] if first else []
    for number, run in enumerate(others, 1):
        slash = "/" if parts else ""
        if number < len(others):
            parts.append(f"(?>{slash}{skipped}{run})")
        elif run:
            parts.append(rf"{slash}{skipped}{run}\Z")
        else:
            parts.append(f"{slash}.")  # a double star at the end stands for all that is inside
    return "(?s:" + "".join(parts) + ")"


def _segments(text: str) -> list[str]:
    """The names of a pattern. A slash inside of brackets divides nothing, and matches nothing either."""
    found: list[str] = []
    start = at = 0
    while at < len(text):
        if text[at] == "[":
            _, at = _character_class(text, at + 1)
        elif text[at] == "/" or text.startswith("\\/", at):
            found.append(text[start:at])
            start = at = at + (1 if text[at] == "/" else 2)
        else:
            at += 2 if text[at] == "\\" else 1
    return [*found, text[start:]]


def _segment(text: str) -> str:
    """What one name of a path must match from its beginning to its end."""
    parts: list[list[str]] = [[]]
    at = 0
    while at < len(text):
        character = text[at]
        at += 1
        if character == "*":
            if parts[-1] or len(parts) == 1:
                parts.append([])
        elif character == "?":
            parts[-1].append("[^/]")
        elif character == "[":
            found, at = _character_class(text, at)
            parts[-1].append(found)
        elif character == "\\":
            if at == len(text):
                raise BadGlob("nothing follows its last backslash")
            parts[-1].append(re.escape(text[at]))
            at += 1
        else:
            parts[-1].append(re.escape(character))
    first, *others = ["".join(part) for part in parts]
    if not others:
        return f"{first}{_SEGMENT_END}" if first else _NOTHING
    inner = "".join(f"(?>[^/]*?{part})" for part in others[:-1])
    # The last part ends where the name does: go there, and look back.
    last = f"(?=[^/]{{{len(parts[-1])}}})[^/]*+(?<={others[-1]})" if others[-1] else "[^/]*+"
    some = "(?=[^/])"  # no name is empty
    return f"(?>{some}{first}{inner}{last})"


def _character_class(text: str, at: int, strict: bool = False) -> tuple[str, int]:
    """The expression for what follows a ``[``, and where it ends. Raises :class:`BadGlob`.

    Of a range from z to a git takes the z.
    """
    start = at
    negated = text[at : at + 1] in ("!", "^")
    at += negated
    parts: list[str] = []
    first = True
    while True:
        if at >= len(text):
            raise BadGlob(f"the bracket before {text[start:]!r} is never closed")
        if text[at] == "]" and not first:
            break
        first = False
        if text.startswith("[:", at) and (end := text.find(":]", at + 2)) >= 0:
            name = text[at + 2 : end]
            if name not in _CLASSES:
                raise BadGlob(f"there is no class [:{name}:]")
            parts.append(_CLASSES[name])
            at = end + 2
            continue
        low, at = _member(text, at)
        if text[at : at + 1] == "-" and text[at + 1 : at + 2] not in ("]", ""):
            high, at = _member(text, at + 1)
            if low > high and strict:
                raise BadGlob(f"the range {low}-{high} is empty")
            parts.append(f"{_escaped(low)}-{_escaped(high)}" if low < high else _escaped(low))
        else:
            parts.append(_escaped(low))
    return f"(?!/)[{'^' if negated else ''}{''.join(parts)}]", at + 1


def _member(text: str, at: int) -> tuple[str, int]:
    if text[at] == "\\":
        at += 1
        if at >= len(text):
            raise BadGlob("nothing follows its last backslash")
    return text[at], at + 1


def _escaped(character: str) -> str:
    return "\\" + character if character in r"\]^-[&~|" else character
