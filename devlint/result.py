"""What a run comes to: the one thing that reports read. Plain data, like the findings in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from devlint.codes import UNREADABLE_FILE
from devlint.finding import Finding, Severity


@dataclass(frozen=True, slots=True)
class Hidden:
    """Findings that were made and are not shown."""

    suppressed: int = 0
    baselined: int = 0
    below_severity: int = 0
    below_confidence: int = 0

    @property
    def total(self) -> int:
        return self.suppressed + self.baselined + self.below_severity + self.below_confidence


@dataclass(frozen=True)
class Result:
    """Everything that a report may say of one run. Findings are in the order path, line, column, code."""

    findings: tuple[Finding, ...]
    files: int
    hidden: Hidden = Hidden()
    seconds: float = 0.0
    missing: tuple[str, ...] = ()
    """Named paths that do not exist."""
    nothing: str = ""
    """Why no file was looked at; empty if one was."""
    details: tuple[str, ...] = ()
    """Tracebacks of what devlint itself got wrong."""
    texts: dict[str, bytes] = field(default_factory=dict)
    """Contents, by the path in findings, of files that cannot be read again."""

    @property
    def by_severity(self) -> Counter[Severity]:
        return Counter(finding.severity for finding in self.findings)

    @property
    def exit_code(self) -> int:
        """0 clean, 1 findings that gate, 2 something could not be looked at. Notes never gate."""
        if self.missing or any(finding.code == UNREADABLE_FILE for finding in self.findings):
            return 2
        return int(any(finding.severity > Severity.NOTE for finding in self.findings))
