"""One line a finding, for grep and for editors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from devlint.finding import Finding
from devlint.reports.painting import Line
from devlint.reports.text import header


def concise_lines(findings: Iterable[Finding]) -> Iterator[Line]:
    """The header line of each finding and nothing else."""
    return map(header, findings)
