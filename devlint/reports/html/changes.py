"""A fix as the lines that it takes away and the lines that it puts there."""

from __future__ import annotations

from devlint.finding import Fix, Place
from devlint.reports.source_lines import SourceLines
from devlint.source.line_ends import split_lines


def changed_lines(fix: Fix, path: str, source: SourceLines) -> list[tuple[str, str]]:
    """``-`` and ``+`` with their lines; empty where the edits are in a notebook, in another file, or fit no longer."""
    placed: list[tuple[Place, str]] = []
    for edit in fix.edits:
        place = source.place_of(edit, path)
        if place is None or place.path != path:
            return []
        placed.append((place, edit.text))
    if not placed:
        return []
    first, last = min(place.line for place, _ in placed), max(place.end_line for place, _ in placed)
    old = [source.file_line(path, line) for line in range(first, last + 1)]
    text = "\n".join(old)
    for place, replacement in sorted(placed, reverse=True):
        start, end = (
            sum(len(line) + 1 for line in old[: line - first]) + column - 1
            for line, column in ((place.line, place.column), (place.end_line, place.end_column))
        )
        text = text[:start] + replacement + text[end:]
    new = split_lines(text)
    while old and new and old[-1] == new[-1]:
        old.pop()
        new.pop()
    return [("-", line) for line in old] + [("+", line) for line in new]
