"""What a run comes to: the one thing that reports read. Plain data, like the findings in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import field

from devlint.configuration.codes import UNREADABLE_FILE
from devlint.finding import Finding, Place, Severity, VerdictState
from devlint.records import dataclass


@dataclass(frozen=True, slots=True)
class Hidden:
    """Findings that were made and are not shown."""

    suppressed: int = 0
    baselined: int = 0
    in_base: int = 0
    """Not new against ``--diff-base``, and not in the baseline either."""
    below_severity: int = 0
    below_confidence: int = 0

    @property
    def total(self) -> int:
        return self.suppressed + self.baselined + self.in_base + self.below_severity + self.below_confidence


@dataclass(frozen=True, slots=True)
class EntryRun:
    """One entry run on one device. ``state`` is ``ran``, ``failed``, ``timed-out`` or ``skipped``.

    ``own_failure``: it ended for a reason that has nothing to do with devices; ``place`` is where, if that is known.
    """

    entry: str
    device: str
    simulated: bool
    state: str
    reason: str | None = None
    own_failure: bool = False
    place: Place | None = None


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
    notes: tuple[str, ...] = ()
    """What else is to be told to the user: a line each."""
    details: tuple[str, ...] = ()
    """Tracebacks of what devlint itself got wrong."""
    fixed: int | None = None
    """How many findings were fixed, or would be; None if none were to be."""
    texts: dict[str, bytes] = field(default_factory=dict)
    """Contents, by the path in findings, of files that cannot be read again."""
    confirming: bool = False
    """Whether this is a run of ``devlint confirm``."""
    entries: tuple[EntryRun, ...] = ()
    not_run: str = ""
    """Why the run settles nothing, in one line; empty if every entry could run and one reached its device."""

    @property
    def by_severity(self) -> Counter[Severity]:
        return Counter(finding.severity for finding in self.findings)

    @property
    def by_verdict(self) -> Counter[VerdictState]:
        return Counter(finding.verdict.state for finding in self.findings if finding.verdict is not None)

    @property
    def exit_code(self) -> int:
        """0 clean, 1 findings that gate, 2 something could not be looked at. Notes never gate.

        Of a confirming run only what was seen to happen gates.
        """
        if self.missing or self.not_run or any(finding.code == UNREADABLE_FILE for finding in self.findings):
            return 2
        if self.confirming:
            return int(any(_seen_to_happen(finding) for finding in self.findings))
        return int(any(finding.severity > Severity.NOTE for finding in self.findings))


def _seen_to_happen(finding: Finding) -> bool:
    return finding.is_confirmed and finding.severity > Severity.NOTE
