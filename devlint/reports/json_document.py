"""The JSON form, version 1. Fields are only ever added."""

from __future__ import annotations

import json
from typing import Any

from devlint import __version__
from devlint.finding import Finding, Fix, Operand, Place, Severity, TraceStep, Verdict
from devlint.pipeline.result import EntryRun, Result
from devlint.reports.summary import hidden_words

FORMAT_VERSION = 1

SCHEMA = "urn:devlint:schema:output:1"
"""The name of ``devlint/schemas/output.json``."""


def json_document(result: Result) -> str:
    """The whole run as one document. ASCII only: a file name that is not UTF-8 comes out as lone surrogates."""
    counts = result.by_severity
    document = {
        "$schema": SCHEMA,
        "version": FORMAT_VERSION,
        "devlint": __version__,
        "summary": {
            "files": result.files,
            "findings": len(result.findings),
            **{severity.label: counts[severity] for severity in sorted(Severity, reverse=True)},
            "suppressed": result.hidden.suppressed,
            "baselined": result.hidden.baselined,
            **({} if result.fixed is None else {"fixed": result.fixed}),
        },
        "findings": [finding_fields(finding) for finding in result.findings],
        "entries": [entry_fields(entry) for entry in result.entries],
        "notes": [f"hidden: {words}" for words in hidden_words(result.hidden)]
        + [f"{path}: no such file or directory" for path in result.missing]
        + ([result.nothing] if result.nothing else [])
        + list(result.notes)
        + ([result.not_run] if result.not_run else []),
    }
    return json.dumps(document, indent=2) + "\n"


def finding_fields(finding: Finding) -> dict[str, Any]:
    """One finding as it stands in the document."""
    place = finding.place
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.label,
        "confidence": finding.confidence.label,
        "message": finding.message,
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "scope": finding.scope,
        "fingerprint": finding.fingerprint,
        "help": finding.help or None,
        "trace": [_step_fields(step) for step in finding.trace],
        "fix": None if finding.fix is None else _fix_fields(finding.fix, place.path),
        "origin": finding.origin,
        "verdict": None if finding.verdict is None else verdict_fields(finding.verdict),
        "cell": place.cell or None,
        "url": None,
    }


def _step_fields(step: TraceStep) -> dict[str, Any]:
    place = step.place
    return {
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "message": step.message,
        "device": step.device,
    } | ({"cell": place.cell} if place.cell else {})


def _fix_fields(fix: Fix, path: str) -> dict[str, Any]:
    edits = [
        {"start": edit.start, "end": edit.end, "text": edit.text}
        | ({"path": edit.path} if edit.path not in (None, path) else {})
        | ({"cell": edit.cell} if edit.cell else {})
        for edit in fix.edits
    ]
    return {"applicability": fix.applicability.value, "message": fix.message, "edits": edits}


def verdict_fields(verdict: Verdict) -> dict[str, Any]:
    """What a run says of a finding, as it stands in the document."""
    return {
        "state": verdict.state.value,
        "device": verdict.device,
        "simulated": verdict.simulated,
        "entry": verdict.entry,
        "error": verdict.error,
        "reason": verdict.reason or None,
        "operands": [_operand_fields(operand) for operand in verdict.operands],
    }


def _operand_fields(operand: Operand) -> dict[str, Any]:
    return {
        "name": operand.name,
        "device": operand.device,
        "shape": list(operand.shape),
        "dtype": operand.dtype,
        "born": _place_fields(operand.born),
        "moved": _place_fields(operand.moved),
        "computed": _place_fields(operand.computed),
        "kept": _place_fields(operand.kept),
    }


def _place_fields(place: Place | None) -> dict[str, Any] | None:
    return None if place is None else {"path": place.path, "line": place.line, "column": place.column}


def entry_fields(entry: EntryRun) -> dict[str, Any]:
    """One run of an entry, as it stands in the document."""
    return {
        "entry": entry.entry,
        "device": entry.device,
        "simulated": entry.simulated,
        "state": entry.state,
        "reason": entry.reason,
    } | ({"failed_at": _place_fields(entry.place)} if entry.place else {})
