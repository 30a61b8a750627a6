"""reviewdog's diagnostic format, a ``DiagnosticResult``.

Source: github.com/reviewdog/reviewdog, proto/rdf/reviewdog.proto. reviewdog reads it with protojson, which refuses
unknown fields and text that is no Unicode; columns are 1-based and count bytes in UTF-8.
"""

from __future__ import annotations

import json
from typing import Any

from devlint.finding import Finding, Fix, Place, Severity
from devlint.pipeline.result import Result
from devlint.reports.document import well_formed
from devlint.reports.gravity import gravity
from devlint.reports.repository import Repository, in_file
from devlint.reports.source_lines import SourceLines
from devlint.reports.wording import explanation

_SEVERITIES = {Severity.NOTE: "INFO", Severity.WARNING: "WARNING", Severity.ERROR: "ERROR"}


def rdjson_document(result: Result, source: SourceLines, repository: Repository) -> str:
    """The report; without diagnostics for a clean run."""
    diagnostics = [_diagnostic(finding, source, repository) for finding in result.findings]
    return json.dumps({"source": {"name": "devlint"}, "diagnostics": diagnostics}, indent=2) + "\n"


def _diagnostic(finding: Finding, source: SourceLines, repository: Repository) -> dict[str, Any]:
    message = "\n".join([finding.message, *explanation(finding, repository.path)])
    diagnostic: dict[str, Any] = {
        "message": well_formed(message),
        "location": {
            "path": well_formed(repository.path(finding.place.path)),
            "range": _range(finding.place, source),
        },
        "severity": _SEVERITIES[gravity(finding)],
        "code": {"value": finding.code},
    }
    suggestions = _suggestions(finding.fix, finding.place.path, source) if finding.fix is not None else []
    if suggestions:
        diagnostic["suggestions"] = suggestions
    return diagnostic


def _suggestions(fix: Fix, path: str, source: SourceLines) -> list[dict[str, Any]]:
    """One for each edit; none at all if one of them has no place in the finding's own file."""
    suggestions: list[dict[str, Any]] = []
    for edit in fix.edits:
        place = source.place_of(edit, path)
        if place is None or place.path != path:
            return []
        suggestions.append({"range": _range(place, source), "text": well_formed(edit.text)})
    return suggestions


def _range(place: Place, source: SourceLines) -> dict[str, Any]:
    """In the file's own lines; without columns, as reviewdog wants it, where only the line is known."""
    place = in_file(place)
    if not place.column:
        return {"start": {"line": place.line}, "end": {"line": place.end_line}}
    return {
        "start": {"line": place.line, "column": _byte_column(place.path, place.line, place.column, source)},
        "end": {"line": place.end_line, "column": _byte_column(place.path, place.end_line, place.end_column, source)},
    }


def _byte_column(path: str, line: int, column: int, source: SourceLines) -> int:
    text, before = source.file_line(path, line), column - 1
    beyond = max(before - len(text), 0)
    return len(text[:before].encode("utf-8")) + beyond + 1
