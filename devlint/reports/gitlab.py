"""GitLab's code quality report: an array in the form of Code Climate's issues.

Source: docs.gitlab.com/ci/testing/code_quality (description, check_name, fingerprint, severity, location.path and
location.lines.begin are what GitLab reads) and Code Climate's SPEC.md (categories, content, trace).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from devlint.finding import Finding, Place, Severity
from devlint.pipeline.result import Result
from devlint.reports.document import well_formed
from devlint.reports.gravity import gravity
from devlint.reports.repository import Repository, in_file
from devlint.reports.wording import explanation

_SEVERITIES = {Severity.NOTE: "info", Severity.WARNING: "minor", Severity.ERROR: "major"}


def gitlab_document(result: Result, repository: Repository) -> str:
    """The report; an empty array for a clean run."""
    seen: set[str] = set()
    return json.dumps([_issue(finding, repository, seen) for finding in result.findings], indent=2) + "\n"


def _issue(finding: Finding, repository: Repository, seen: set[str]) -> dict[str, Any]:
    issue: dict[str, Any] = {
        "type": "issue",
        "check_name": finding.code,
        "description": well_formed(f"{finding.code} {finding.name}: {finding.message}"),
        "categories": ["Performance" if finding.severity is Severity.NOTE else "Bug Risk"],
        "severity": _SEVERITIES[gravity(finding)],
        "fingerprint": _unique(finding.fingerprint, seen),
        "location": _location(finding.place, repository),
    }
    more = explanation(finding, repository.path)
    if more:
        issue["content"] = {"body": well_formed("\n".join(f"- {line}" for line in more))}
    if finding.trace:
        steps = [_location(step.place, repository) for step in finding.trace]
        issue["trace"] = {"locations": steps, "stacktrace": False}
    return issue


def _location(place: Place, repository: Repository) -> dict[str, Any]:
    place = in_file(place)
    return {
        "path": well_formed(repository.path(place.path)),
        "lines": {"begin": place.line, "end": max(place.line, place.end_line)},
    }


def _unique(fingerprint: str, seen: set[str]) -> str:
    """GitLab drops an issue whose fingerprint it has had; like ones are numbered, whatever line they are on."""
    number, candidate = 1, fingerprint
    while candidate in seen:
        number += 1
        candidate = hashlib.sha256(f"{fingerprint}:{number}".encode()).hexdigest()
    seen.add(candidate)
    return candidate
