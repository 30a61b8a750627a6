"""How grave a finding is to a forge, and which come first where not all can be shown."""

from __future__ import annotations

from collections.abc import Iterable

from devlint.finding import Finding, Severity, VerdictState

_VERDICTS = (VerdictState.REFUTED, VerdictState.NOT_REACHED, VerdictState.INCONCLUSIVE, None, VerdictState.CONFIRMED)


def gravity(finding: Finding) -> Severity:
    """The severity; but of what a run looked at, only what it confirmed is an error, and what it refuted is a note."""
    if finding.verdict is None or finding.is_confirmed:
        return finding.severity
    refuted = finding.verdict.state is VerdictState.REFUTED
    return Severity.NOTE if refuted else min(finding.severity, Severity.WARNING)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """By severity, then by what a run said, then by confidence; like ones keep their order."""

    def rank(finding: Finding) -> tuple[int, int, int]:
        state = finding.verdict.state if finding.verdict is not None else None
        return (-gravity(finding), -_VERDICTS.index(state), -finding.confidence)

    return sorted(findings, key=rank)
