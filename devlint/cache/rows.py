"""Findings as JSON and back. Reading raises ValueError, TypeError or LookupError for what is not as it was written."""

from __future__ import annotations

from typing import Any

from devlint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity, TraceStep
from devlint.pipeline.task import FileReport

Row = list[Any]


def finding_row(finding: Finding) -> Row:
    fix = finding.fix
    return [
        finding.code,
        finding.name,
        int(finding.severity),
        int(finding.confidence),
        finding.message,
        _place_row(finding.place),
        finding.scope,
        finding.snippet,
        [_step_row(step) for step in finding.trace],
        finding.help,
        None if fix is None else [fix.applicability.value, fix.message, [_edit_row(edit) for edit in fix.edits]],
        list(finding.related_lines),
        finding.fingerprint,
    ]


def read_finding(row: Row) -> Finding:
    code, name, severity, confidence, message, place, scope, snippet, trace, help, fix, related, fingerprint = row
    return Finding(
        code=_text(code),
        name=_text(name),
        severity=Severity(severity),
        confidence=Confidence(confidence),
        message=_text(message),
        place=_read_place(place),
        scope=_text(scope),
        snippet=_text(snippet),
        trace=tuple(map(_read_step, trace)),
        help=_text(help),
        fix=None if fix is None else _read_fix(fix),
        related_lines=tuple(map(_number, related)),
        fingerprint=_text(fingerprint),
    )


def report_row(report: FileReport) -> Row:
    return [
        report.shown_as,
        [finding_row(finding) for finding in report.findings],
        report.suppressed,
        report.below_severity,
        report.below_confidence,
        [finding_row(finding) for finding in report.below_gate],
        report.digest.hex(),
    ]


def read_report(row: Row) -> FileReport:
    shown_as, findings, suppressed, below_severity, below_confidence, below_gate, digest = row
    return FileReport(
        shown_as=_text(shown_as),
        findings=tuple(map(read_finding, findings)),
        suppressed=_number(suppressed),
        below_severity=_number(below_severity),
        below_confidence=_number(below_confidence),
        below_gate=tuple(map(read_finding, below_gate)),
        digest=bytes.fromhex(digest),
    )


def _place_row(place: Place) -> Row:
    numbers = [place.line, place.column, place.end_line, place.end_column]
    return [place.path, *numbers, *([place.cell, place.file_line] if place.cell or place.file_line else [])]


def _read_place(row: Row) -> Place:
    path, *numbers = row
    return Place(_text(path), *map(_number, numbers))


def _step_row(step: TraceStep) -> Row:
    return [_place_row(step.place), step.message, step.device, step.begins]


def _read_step(row: Row) -> TraceStep:
    place, message, device, begins = row
    return TraceStep(_read_place(place), _text(message), None if device is None else _text(device), begins is True)


def _edit_row(edit: Edit) -> Row:
    return [edit.start, edit.end, edit.text, edit.path, edit.cell]


def _read_fix(row: Row) -> Fix:
    applicability, message, edits = row
    return Fix(
        Applicability(applicability),
        _text(message),
        tuple(
            Edit(_number(start), _number(end), _text(text), None if path is None else _text(path), _number(cell))
            for start, end, text, path, cell in edits
        ),
    )


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(f"{value!r} is no text")
    return value


def _number(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is no number")
    return value
