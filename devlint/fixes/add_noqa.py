"""``--add-noqa``: a comment for every finding there is, so that the next run speaks of new ones only."""

from __future__ import annotations

import ast
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from devlint.configuration.codes import ALWAYS_ON, UNUSED_SUPPRESSION
from devlint.finding import Edit, Finding
from devlint.fixes.applying import fixed
from devlint.fixes.byte_edits import Refused
from devlint.fixes.writing import NotWritten, replace_content
from devlint.source.comment_room import comment_lines
from devlint.source.decoding import Source, Unreadable
from devlint.source.python_parser import parse
from devlint.source.source_file import read_source
from devlint.source.suppression import Suppression, read_suppressions
from devlint.source.tree import WORKING_TREE

NEVER = ALWAYS_ON | {UNUSED_SUPPRESSION}
"""Codes that a comment cannot, or should not, silence."""


@dataclass(frozen=True, slots=True)
class Added:
    """What was written, what no comment was written for, and which files could not be written and why."""

    comments: int
    files: int
    left: tuple[Finding, ...]
    failures: tuple[str, ...]


def add_noqa(findings: Iterable[Finding], cwd: Path) -> Added:
    """Write ``# noqa: CODES`` for findings; each file is written whole or not at all, in its own encoding."""
    by_path: dict[str, list[Finding]] = defaultdict(list)
    left: list[Finding] = []
    for finding in findings:
        (left if finding.code in NEVER else by_path[finding.place.path]).append(finding)
    comments = files = 0
    failures: list[str] = []
    for path, found in by_path.items():
        try:
            added = _annotate(cwd / path, found)
        except (OSError, Unreadable, Refused, NotWritten) as error:
            failures.append(f"cannot write {path}: {_reason(error)}")
            left += found
            continue
        comments += added
        files += added > 0
    return Added(comments, files, tuple(sorted(left, key=lambda finding: finding.sort_key)), tuple(failures))


def _annotate(file: Path, findings: list[Finding]) -> int:
    """Write one file's comments; how many were added or extended."""
    source = read_source(file.name, WORKING_TREE.read(str(file)))
    edits, data = silenced(source, file.name, findings)
    replace_content(str(file), source.data, data)
    return len(edits)


def silenced(source: Source, name: str, findings: Iterable[Finding]) -> tuple[list[Edit], bytes]:
    """The edits that write comments for findings of a file, and its bytes with them. Raises :class:`Refused`."""
    edits = noqa_edits(source, ((source.text_line(finding.place), finding.code) for finding in findings))
    data = fixed(source, name, edits)
    if _meaning(read_source(name, data)) != _meaning(source):
        raise Refused("a comment would change what the program means; please report this")
    return edits, data


def noqa_edits(source: Source, findings: Iterable[tuple[int, str]]) -> list[Edit]:
    """The edits, into the file's bytes, that silence codes at lines of ``source.text``: one for each comment."""
    room = comment_lines(source.text, source.segments)
    wanted: dict[int, list[str]] = defaultdict(list)
    for line, code in findings:
        if line in room and code not in wanted[room[line]]:
            wanted[room[line]].append(code)
    present = {
        suppression.line: suppression
        for suppression in read_suppressions(source.text, source.segments)
        if suppression.kind == "noqa" and suppression.selectors
    }
    ends = _line_ends(source.text)
    edits: list[Edit] = []
    for line, codes in sorted(wanted.items()):
        edit = _merged(source, present[line], codes) if line in present else _appended(source, ends[line - 1], codes)
        if edit is not None:
            edits.append(source.original(edit))
    return edits


def _merged(source: Source, comment: Suppression, codes: list[str]) -> Edit | None:
    there = {selector.code for selector in comment.selectors}
    missing = [code for code in sorted(codes) if code not in there]
    at = comment.selectors[-1].end
    return _edit(source.text, at, at, "".join(f", {code}" for code in missing)) if missing else None


def _appended(source: Source, line_end: int, codes: list[str]) -> Edit:
    start = len(source.text[:line_end].rstrip(" \t\f"))
    return _edit(source.text, start, line_end, f"  # noqa: {', '.join(sorted(codes))}")


def _line_ends(text: str) -> list[int]:
    return [match.start() for match in re.finditer(r"\r\n|\r|\n|\Z", text)]


def _edit(text: str, start: int, end: int, replacement: str) -> Edit:
    first = len(text[:start].encode())
    return Edit(first, first + len(text[start:end].encode()), replacement)


def _meaning(source: Source) -> str | None:
    """The program without its comments; None for one that only LibCST understands."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.dump(parse(source.text))
    except (SyntaxError, RecursionError, MemoryError):
        return None


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
