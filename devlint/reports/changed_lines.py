"""The source lines that a fix changes, as they are and as they would be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from devlint.finding import Edit, Finding
from devlint.fixes.byte_edits import Refused, apply_edits
from devlint.reports.source_lines import SourceLines
from devlint.source.line_ends import split_lines

MOST_LINES = 8
"""A fix that changes more is told in words alone."""


def changed_lines(finding: Finding, sources: SourceLines) -> list[tuple[str, str]]:
    """Pairs of ``-`` or ``+`` and a line, in the order of a diff; empty where there is nothing to show."""
    edits = finding.fix.edits if finding.fix is not None else ()
    source = sources.source(finding.place.path)
    if not edits or source is None or any(edit.cell != finding.place.cell or edit.path for edit in edits):
        return []
    if finding.place.cell:
        data, encoding = "\n".join(sources.of(finding.place)).encode(), "utf-8"
    else:
        data, encoding = source.data, source.encoding
    data, edits = _around(data, edits)
    try:
        old, new = data.decode(encoding), apply_edits(data, edits, encoding).decode(encoding)
    except (Refused, UnicodeDecodeError):
        return []
    found = list(_differences(*(split_lines(text.removeprefix("\ufeff")) for text in (old, new))))
    return found if len(found) <= MOST_LINES else []


def _around(data: bytes, edits: tuple[Edit, ...]) -> tuple[bytes, tuple[Edit, ...]]:
    """The lines in which edits are, and the edits in these; no byte of another character is an end of a line."""
    begin = data.rfind(b"\n", 0, min(edit.start for edit in edits)) + 1
    end = data.find(b"\n", max(edit.end for edit in edits)) + 1 or len(data)
    return data[begin:end], tuple(Edit(edit.start - begin, edit.end - begin, edit.text) for edit in edits)


def _differences(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    first = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    before, after = old[first : len(old) - last], new[first : len(new) - last]
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from (("-", line) for line in before[i1:i2])
            yield from (("+", line) for line in after[j1:j2])
