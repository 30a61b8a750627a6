"""Stage: the edits of fixes, from offsets into the text to offsets into the file's bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from devlint.finding import Finding
from devlint.source.decoding import Source


def with_byte_edits(findings: Iterable[Finding], source: Source) -> list[Finding]:
    """The findings with edits into the bytes of ``source``; edits of other files are left as they are."""
    return [_with_byte_edits(finding, source) for finding in findings]


def _with_byte_edits(finding: Finding, source: Source) -> Finding:
    if finding.fix is None or not finding.fix.edits:
        return finding
    edits = tuple(edit if edit.path else source.original(edit) for edit in finding.fix.edits)
    return finding if edits == finding.fix.edits else replace(finding, fix=replace(finding.fix, edits=edits))
