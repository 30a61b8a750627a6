"""One finding as a SARIF result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from devlint.finding import Confidence, Finding, Fix, Place, Severity, TraceStep
from devlint.reports.document import well_formed
from devlint.reports.gravity import gravity
from devlint.reports.json_document import verdict_fields
from devlint.reports.line_hash import line_hashes
from devlint.reports.repository import Repository, in_file
from devlint.reports.sarif_limits import LOCATIONS_SHOWN, THREAD_FLOW_LOCATIONS_SHOWN
from devlint.reports.sarif_rules import LEVELS
from devlint.reports.shortening import ends
from devlint.reports.source_lines import SourceLines
from devlint.reports.wording import FIX_WORDS, advice, step_words, verdict_words

SOURCE_ROOT = "%SRCROOT%"
_RANKS = {Severity.NOTE: 10.0, Severity.WARNING: 50.0, Severity.ERROR: 80.0}
_CONFIDENCES = {Confidence.LOW: 0.0, Confidence.MEDIUM: 10.0, Confidence.HIGH: 20.0}
_LINK = re.compile(r"\[([^\[\]]*)\](?=\()")


class Results:
    """Writes findings as results, remembering what is the same for all findings of a file."""

    def __init__(self, source: SourceLines, repository: Repository, rules: Mapping[str, int]) -> None:
        self._source = source
        self._repository = repository
        self._rules = rules
        self._hashes: dict[str, list[str]] = {}
        self.cut_traces = 0
        """How many findings have a longer trace than GitHub shows."""

    def result(self, finding: Finding) -> dict[str, Any]:
        """A result object (SARIF 2.1.0, 3.27) with its one location."""
        severity = gravity(finding)
        fields: dict[str, Any] = {
            "ruleId": finding.code,
            "ruleIndex": self._rules[finding.code],
            "level": LEVELS[severity],
            "rank": _RANKS[severity] + _CONFIDENCES[finding.confidence],
            "message": {"text": _message(finding, self._repository)},
            "locations": [self._located(finding)],
            "fingerprints": {"devlint/v1": finding.fingerprint},
            "partialFingerprints": {"primaryLocationLineHash": self._line_hash(finding)},
        }
        if finding.trace:
            fields |= self._way(finding.trace)
        if finding.fix is not None:
            changes = self._changes(finding.fix, finding.place.path)
            if changes:
                told = f"{FIX_WORDS[finding.fix.applicability]}: {finding.fix.message}"
                fields["fixes"] = [{"description": {"text": well_formed(told)}, "artifactChanges": changes}]
        fields["properties"] = {"confidence": finding.confidence.label, "origin": finding.origin}
        if finding.verdict is not None:
            fields["properties"]["verdict"] = verdict_fields(finding.verdict)
        return fields

    def _way(self, trace: tuple[TraceStep, ...]) -> dict[str, Any]:
        """The trace as GitHub shows it: steps to walk through, and the places to which the message links."""
        numbered = list(enumerate(trace, 1))
        steps = ends(numbered, THREAD_FLOW_LOCATIONS_SHOWN)
        self.cut_traces += len(steps) < len(numbered)
        flow = [
            {
                "location": self._step(step),
                "executionOrder": number,
                **({"state": {"device": {"text": well_formed(step.device)}}} if step.device else {}),
            }
            for number, step in steps
        ]
        related = [{"id": number, **self._step(step)} for number, step in ends(numbered, LOCATIONS_SHOWN)]
        return {"codeFlows": [{"threadFlows": [{"locations": flow}]}], "relatedLocations": related}

    def _step(self, step: TraceStep) -> dict[str, Any]:
        return {**self._physical(step.place), "message": {"text": well_formed(step_words(step))}}

    def _located(self, finding: Finding) -> dict[str, Any]:
        location = self._physical(finding.place)
        if finding.scope:
            location["logicalLocations"] = [{"fullyQualifiedName": well_formed(finding.scope)}]
        return location

    def _physical(self, place: Place) -> dict[str, Any]:
        return {
            "physicalLocation": {
                "artifactLocation": self._artifact(place.path),
                "region": one_line_region(place, self._source),
            }
        }

    def _artifact(self, path: str) -> dict[str, str]:
        return artifact_location(self._repository.path(path))

    def _line_hash(self, finding: Finding) -> str:
        path = finding.place.path
        if path not in self._hashes:
            data = self._source.data(path)
            self._hashes[path] = [] if data is None else line_hashes(data)
        hashes = self._hashes[path]
        line = in_file(finding.place).line
        # A file that is gone cannot be hashed by GitHub either: then our own identity serves.
        return hashes[line - 1] if line <= len(hashes) else f"{finding.fingerprint[:16]}:1"

    def _changes(self, fix: Fix, path: str) -> list[dict[str, Any]]:
        """The edits by file; none at all if one of them no longer fits."""
        replacements: dict[str, list[dict[str, Any]]] = {}
        for edit in fix.edits:
            place = self._source.place_of(edit, path)
            if place is None:
                return []
            replacement = {"deletedRegion": _region(place), "insertedContent": {"text": well_formed(edit.text)}}
            replacements.setdefault(place.path, []).append(replacement)
        return [{"artifactLocation": self._artifact(file), "replacements": made} for file, made in replacements.items()]


def artifact_location(path: str) -> dict[str, str]:
    """A path of a repository as a URI, its bytes percent-encoded; an absolute path as a URI of its own."""
    if Path(path).is_absolute():
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": SOURCE_ROOT}


def one_line_region(place: Place, source: SourceLines) -> dict[str, int]:
    """The first line of a place: in a pull request GitHub shows an alert only if the diff has all of its lines."""
    place = in_file(place)
    if place.end_line > place.line or not place.column:
        end = len(source.file_line(place.path, place.line)) + 1
        place = Place(place.path, place.line, max(place.column, 1), place.line, end)
    return _region(place)


def _region(place: Place) -> dict[str, int]:
    """All four numbers, which GitHub requires."""
    same_line = place.end_line == place.line
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": max(place.end_column, place.column) if same_line else place.end_column,
    }


def _message(finding: Finding, repository: Repository) -> str:
    """The message, a line that links the steps of the trace, the verdict, and the repair."""
    lines = [_unlinked(finding.message)]
    if finding.trace:
        steps = ends(list(enumerate(finding.trace, 1)), LOCATIONS_SHOWN)
        lines.append("Steps: " + ", ".join(f"[{_linked(step_words(step))}]({number})" for number, step in steps) + ".")
    if finding.verdict is not None:
        first, *rest = verdict_words(finding.verdict, repository.path)
        lines += [_unlinked(line) for line in (first[:1].upper() + first[1:], *rest)]
    lines += [_unlinked(f"{word.capitalize()}: {text}.") for word, text in advice(finding)]
    return well_formed("\n".join(line if line.endswith((".", "!", "?")) else f"{line}." for line in lines))


def _unlinked(text: str) -> str:
    """Text in which ``layers[0](1)`` is not taken for a link (SARIF 2.1.0, 3.11.6)."""
    return _LINK.sub(r"\\[\1\\]", text)


def _linked(text: str) -> str:
    return re.sub(r"([\\\[\]])", r"\\\1", text)
