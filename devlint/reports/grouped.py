"""Findings under the names of their files, a line each, aligned: ruff's look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from devlint.finding import Applicability, Finding
from devlint.reports.painting import SEVERITY_STYLES, Line, visible
from devlint.reports.verdict import VERDICT_STYLES, VERDICT_WORDS


def grouped_lines(findings: Iterable[Finding]) -> Iterator[Line]:
    """``src/net.py:`` and under it ``  12:18 DEV101 [*] message``; ``[*]`` marks what ``--fix`` repairs."""
    for path, group in groupby(findings, key=lambda finding: finding.place.path):
        members = list(group)
        wide = max(len(finding.place.position) for finding in members)
        yield [(visible(path), "bold underline"), (":", "")]
        for finding in members:
            yield _finding(finding, wide)
        yield []


def _finding(finding: Finding, wide: int) -> Line:
    verdict, fix = finding.verdict, finding.fix
    line: Line = [
        (f"  {finding.place.position:>{wide}} ", "dim"),
        (finding.code, SEVERITY_STYLES[finding.severity.label]),
        (f" {finding.severity.label}", ""),
    ]
    if fix is not None and fix.edits and fix.applicability is Applicability.SAFE:
        line.append((" [*]", "cyan"))
    line.append((f" {visible(finding.message)}", ""))
    if verdict is not None:
        line.append((f" ({VERDICT_WORDS[verdict.state]})", VERDICT_STYLES[verdict.state]))
    return line
