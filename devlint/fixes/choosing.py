"""Which fixes of a file's findings are applied together."""

from __future__ import annotations

from collections.abc import Iterable

from devlint.finding import Applicability, Edit, Finding


def is_applicable(finding: Finding, unsafe: bool) -> bool:
    """Whether a finding's fix may be applied: a safe one, an unsafe one where that is wished for."""
    fix = finding.fix
    if fix is None or not fix.edits or any(edit.path not in (None, finding.place.path) for edit in fix.edits):
        return False
    return fix.applicability is Applicability.SAFE or (unsafe and fix.applicability is Applicability.UNSAFE)


def chosen(findings: Iterable[Finding], unsafe: bool) -> list[Finding]:
    """The applicable findings of one file whose fixes do not touch each other, the first in order first.

    Those left out wait: once the chosen ones are applied the file is looked at again.
    """
    taken: list[tuple[int, int, int]] = []
    found: list[Finding] = []
    for finding in findings:
        if is_applicable(finding, unsafe) and finding.fix is not None:
            reaches = _reaches(finding.fix.edits)
            if not any(_touch(mine, theirs) for mine in reaches for theirs in taken):
                taken += reaches
                found.append(finding)
    return found


def _reaches(edits: Iterable[Edit]) -> list[tuple[int, int, int]]:
    """From the first to the last byte that a fix changes, by cell: what stands between is part of its idea."""
    bounds: dict[int, tuple[int, int]] = {}
    for edit in edits:
        first, last = bounds.get(edit.cell, (edit.start, edit.end))
        bounds[edit.cell] = min(first, edit.start), max(last, edit.end)
    return [(cell, *reach) for cell, reach in bounds.items()]


def _touch(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    return one[0] == other[0] and one[1] <= other[2] and other[1] <= one[2]
