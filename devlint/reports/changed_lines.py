"""The source lines that a fix changes, as they are and as they would be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from devlint.finding import Finding
from devlint.fixes.byte_edits import Refused, apply_edits
from devlint.reports.source_lines import SourceLines
from devlint.source.decoding import split_lines

MOST_LINES = 8
"""A fix that changes more is told in words alone."""


def changed_lines(finding: Finding, sources: SourceLines) -> list[tuple[str, str]]:
    """Pairs of ``-`` or ``+`` and a line, in the order of a diff; empty where there is nothing to show."""
    edits = finding.fix.edits if finding.fix is not None else ()
    source = sources.source(finding.place.path)
    if not edits or source is None or any(edit.cell != finding.place.cell or edit.path for edit in edits):
        return []
    old = sources.of(finding.place)
    data, encoding = ("\n".join(old).encode(), "utf-8") if finding.place.cell else (source.data, source.encoding)
    try:
        text = apply_edits(data, edits, encoding).decode(encoding)
    except (Refused, UnicodeDecodeError):
        return []
    found = list(_differences(old, split_lines(text.removeprefix("\ufeff"))))
    return found if len(found) <= MOST_LINES else []


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
