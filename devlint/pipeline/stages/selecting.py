"""Stage: the selection of codes and the thresholds of severity and confidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from devlint.configuration.codes import all_codes
from devlint.finding import Applicability, Finding, Severity
from devlint.pipeline.stages.suppressing import Suppressed
from devlint.pipeline.task import FileReport, FileTask, Gate
from devlint.source.decoding import Source


def select(found: Suppressed, unused: Iterable[Finding], source: Source, task: FileTask) -> FileReport:
    """The report on a file: of what no comment suppresses, and of the ``unused`` comments, all that the gate shows."""
    gate = task.gate
    shown: list[Finding] = []
    below: dict[str, list[Finding]] = {"severity": [], "confidence": []}
    for finding in (*found.kept, *unused):
        if finding.code in gate.enabled:
            hidden = hidden_by(finding, gate)
            if hidden:
                below[hidden].append(finding)
            else:
                shown.append(_as_fixable(finding, gate))
    return FileReport(
        task.shown_as,
        tuple(sorted(shown, key=lambda finding: finding.sort_key)),
        suppressed=sum(finding.code in gate.enabled for finding in found.suppressed),
        below_severity=len(below["severity"]),
        below_confidence=len(below["confidence"]),
        below_gate=(*below["severity"], *below["confidence"]),
        digest=source.digest if any(finding.fix and finding.fix.edits for finding in shown) else b"",
    )


def hidden_by(finding: Finding, gate: Gate) -> str:
    """The threshold that hides a finding, ``severity`` or ``confidence``; empty for none."""
    if finding.confidence < gate.min_confidence:
        return "confidence"
    if gate.min_severity is not None:
        return "severity" if finding.severity < gate.min_severity else ""
    if finding.severity >= Severity.WARNING:
        return ""
    own_severity = all_codes()[finding.code].severity
    return "" if own_severity is Severity.NOTE and finding.code in gate.named else "severity"


def _as_fixable(finding: Finding, gate: Gate) -> Finding:
    if finding.fix is None or gate.fixable is None or finding.code in gate.fixable:
        return finding
    return replace(finding, fix=replace(finding.fix, applicability=Applicability.SUGGESTION))
