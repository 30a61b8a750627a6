"""GitLab's code quality report."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from devlint.finding import Finding, Place
from devlint.pipeline.result import Result
from devlint.reports.gitlab import gitlab_document
from tests.reports.examples import CLEAN, FAILED, FINDING, MADE, NOTE, RESULT, UNREADABLE, findings, many, repository


def written(result: Result) -> list[dict[str, Any]]:
    """The issues, after what GitLab's parser asks of each has been seen to hold."""
    issues = json.loads(gitlab_document(result, repository()))
    assert isinstance(issues, list)
    for issue in issues:
        assert issue["description"].strip()
        assert issue["check_name"]
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert isinstance(issue["location"]["lines"]["begin"], int)
        assert issue["location"]["path"]
    fingerprints = [issue["fingerprint"] for issue in issues]
    assert len(set(fingerprints)) == len(fingerprints)
    return issues


def test_an_issue() -> None:
    issue = written(RESULT)[0]
    assert issue["description"].startswith("DEV101 creation-without-device: `hidden` is created on the CPU")
    assert issue["severity"] == "major"
    assert issue["fingerprint"] == FINDING.fingerprint
    assert issue["location"] == {"path": "src/net.py", "lines": {"begin": 5, "end": 5}}
    assert [step["lines"]["begin"] for step in issue["trace"]["locations"]] == [5, 6, 7]
    assert "- 2 moved here, to cuda (src/net.py:6:14)" in issue["content"]["body"]
    assert written(Result((NOTE,), 1))[0]["severity"] == "info"


def test_clean_is_an_empty_array_and_failures_are_issues() -> None:
    assert written(CLEAN) == []
    assert [issue["check_name"] for issue in written(FAILED)] == ["DEV101", UNREADABLE.code]


def test_fingerprints_do_not_follow_lines() -> None:
    below = replace(FINDING, place=replace(MADE, line=50, end_line=50))
    assert written(Result((below,), 1))[0]["fingerprint"] == FINDING.fingerprint


def test_like_findings_with_one_identity_are_told_apart_whatever_their_lines() -> None:
    twice = written(Result((FINDING, FINDING, *many(1)), 1))
    shifted = replace(FINDING, place=replace(MADE, line=60, end_line=60))
    again = written(Result((FINDING, shifted, *many(1)), 1))
    assert [issue["fingerprint"] for issue in twice] == [issue["fingerprint"] for issue in again]


def test_a_notebooks_line_is_that_of_its_file() -> None:
    place = Place("nb.ipynb", 2, 5, 2, 9, cell=3, file_line=40)
    assert written(Result((replace(FINDING, place=place),), 1))[0]["location"]["lines"] == {"begin": 40, "end": 40}


@settings(max_examples=40, deadline=None)
@given(findings())
def test_no_text_breaks_the_document(finding: Finding) -> None:
    json.dumps(written(Result((finding,), 1)), ensure_ascii=False).encode("utf-8")
