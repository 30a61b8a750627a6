"""SARIF 2.1.0, complete for GitHub code scanning and within its limits.

Sources: the OASIS standard, and docs.github.com "SARIF support for code scanning" for what GitHub reads and requires.
"""

from __future__ import annotations

import json
from typing import Any

from devlint import __version__
from devlint.configuration.codes import UNREADABLE_FILE
from devlint.finding import Finding
from devlint.pipeline.result import Result
from devlint.reports import sarif_limits as limits
from devlint.reports.document import Document, well_formed
from devlint.reports.gravity import worst_first
from devlint.reports.json_document import entry_fields
from devlint.reports.repository import Repository
from devlint.reports.sarif_results import SOURCE_ROOT, Results, artifact_location
from devlint.reports.sarif_rules import sarif_rules
from devlint.reports.source_lines import SourceLines
from devlint.reports.summary import counted, hidden_words

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_INDENTED_RESULTS = 1_000


def sarif_document(result: Result, source: SourceLines, repository: Repository) -> Document:
    """One run. What GitHub would reject or leave out is left out here, the worst kept, and counted."""
    findings = list(result.findings)
    if len(findings) > limits.RESULTS_SHOWN:
        findings = worst_first(findings)[: limits.RESULTS]
    while True:
        text, remarks = _written(result, findings, source, repository)
        size = limits.compressed_size(text)
        if size <= limits.COMPRESSED_BYTES or not findings:
            return Document(text, remarks)
        fitting = int(len(findings) * limits.COMPRESSED_BYTES / size * 0.95)
        findings = worst_first(findings)[: min(fitting, len(findings) - 1)]


def _written(
    result: Result, findings: list[Finding], source: SourceLines, repository: Repository
) -> tuple[str, tuple[str, ...]]:
    rules = sarif_rules()
    writer = Results(source, repository, {rule["id"]: index for index, rule in enumerate(rules)})
    results = [writer.result(finding) for finding in findings]
    remarks = tuple(_left_out(len(result.findings), len(findings), writer.cut_traces))
    document = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "devlint",
                        "version": __version__,
                        "rules": rules,
                    }
                },
                "automationDetails": {"id": f"{'devlint-confirm' if result.confirming else 'devlint'}/"},
                "invocations": [_invocation(result, remarks, repository)],
                "originalUriBaseIds": {SOURCE_ROOT: {"uri": _root_uri(repository)}},
                "columnKind": "unicodeCodePoints",
                "results": results,
                **({"properties": {"entries": list(map(entry_fields, result.entries))}} if result.entries else {}),
            }
        ],
    }
    compact = len(findings) > _INDENTED_RESULTS
    separators = (",", ":") if compact else None
    return json.dumps(document, indent=None if compact else 2, separators=separators) + "\n", remarks


def _root_uri(repository: Repository) -> str:
    return repository.root.as_uri().rstrip("/") + "/"


def _invocation(result: Result, remarks: tuple[str, ...], repository: Repository) -> dict[str, Any]:
    failures = [_notification("error", f"{path}: no such file or directory") for path in result.missing]
    failures += [_notification("error", result.not_run)] if result.not_run else []
    for finding in result.findings:
        if finding.code == UNREADABLE_FILE:
            at = {"physicalLocation": {"artifactLocation": artifact_location(repository.path(finding.place.path))}}
            failures.append({**_notification("error", finding.message), "locations": [at]})
    notes = [_notification("note", f"hidden: {words}") for words in hidden_words(result.hidden)]
    notes += [_notification("note", result.nothing)] if result.nothing else []
    return {
        "executionSuccessful": result.exit_code != 2,
        "exitCode": result.exit_code,
        "toolExecutionNotifications": failures + [_notification("warning", remark) for remark in remarks] + notes,
    }


def _notification(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": well_formed(text)}}


def _left_out(findings: int, written: int, cut_traces: int) -> list[str]:
    remarks: list[str] = []
    if written < findings:
        remarks.append(
            f"{counted(findings - written, 'finding')} of {findings:,} left out, the least severe: GitHub takes "
            f"{limits.RESULTS:,} results a run and {limits.COMPRESSED_BYTES // 1_000_000} MB of gzip a file"
        )
    if written > limits.RESULTS_SHOWN:
        remarks.append(f"GitHub shows {limits.RESULTS_SHOWN:,} of these {written:,} results; the gravest come first")
    if cut_traces:
        remarks.append(
            f"{counted(cut_traces, 'trace')} cut in the middle: GitHub shows "
            f"{limits.THREAD_FLOW_LOCATIONS_SHOWN:,} steps of a trace"
        )
    return remarks
