"""SARIF: the standard's schema, and what GitHub wants beyond it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from devlint.finding import Applicability, Edit, Finding, Fix, Place, TraceStep, Verdict, VerdictState
from devlint.pipeline.result import EntryRun, Result
from devlint.reports.line_hash import line_hashes
from devlint.reports.sarif import sarif_document
from tests.reports.examples import (
    CLEAN,
    CONFIRMED,
    FAILED,
    FINDING,
    MADE,
    NET,
    NOTE,
    REFUTED,
    RESULT,
    WARNING,
    findings,
    repository,
    source,
)

SCHEMA = Path(__file__).with_name("schemas") / "sarif-schema-2.1.0.json"


@cache
def validator() -> jsonschema.Draft7Validator:
    return jsonschema.Draft7Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def written(result: Result, texts: dict[str, bytes] | None = None) -> dict[str, Any]:
    """The only run of the document, after all that the standard and GitHub require of it has been seen to hold."""
    document = json.loads(sarif_document(result, source(texts), repository()).text)
    validator().validate(document)
    (run,) = document["runs"]
    assert_github_takes(document)
    return run


def assert_github_takes(document: dict[str, Any]) -> None:
    """The properties that "SARIF support for code scanning" marks as required, none of them empty."""
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-2.1.0.json")
    assert 1 <= len(document["runs"]) <= 20
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"]
    assert len(driver["rules"]) <= 25_000
    for rule in driver["rules"]:
        assert rule["id"]
        assert 0 < len(rule["name"]) <= 255
        assert 0 < len(rule["shortDescription"]["text"]) <= 1024
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024
        assert rule["help"]["text"]
        assert rule["help"]["markdown"]
        assert rule["defaultConfiguration"]["level"] in ("note", "warning", "error")
        assert rule["properties"]["problem.severity"] in ("recommendation", "warning", "error")
        assert 0 < len(rule["properties"]["tags"]) <= 10
        assert "security" not in rule["properties"]["tags"]
        assert "security-severity" not in rule["properties"]
    assert len(run["results"]) <= 25_000
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"].strip()
        assert result["partialFingerprints"]["primaryLocationLineHash"]
        assert len(result["locations"]) == 1
        assert len(result.get("relatedLocations", [])) <= 100
        flow = [
            step["location"]
            for code_flow in result.get("codeFlows", [])
            for thread_flow in code_flow["threadFlows"]
            for step in thread_flow["locations"]
        ]
        assert len(flow) <= 1_000
        for location in (*result["locations"], *result.get("relatedLocations", []), *flow):
            physical = location["physicalLocation"]
            assert physical["artifactLocation"]["uri"].isascii()
            region = physical["region"]
            assert region["startLine"] == region["endLine"] >= 1
            assert 1 <= region["startColumn"] <= region["endColumn"]


def test_a_finding_with_everything() -> None:
    run = written(RESULT)
    result = run["results"][0]
    assert result["message"]["text"] == (
        "`hidden` is created on the CPU; `self.rnn` fails when the model is on an accelerator.\n"
        "Steps: [`torch.zeros`: made here, on cpu](1), [moved here, to cuda](2), [they meet here](3).\n"
        "Help: create it where the input is.\n"
        "Unsafe fix: add `device=x.device`."
    )
    assert result["level"] == "error"
    assert [location["id"] for location in result["relatedLocations"]] == [1, 2, 3]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step.get("state") for step in steps] == [{"device": {"text": "cpu"}}, {"device": {"text": "cuda"}}, None]
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps] == [5, 6, 7]
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "src/net.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 5, "startColumn": 14, "endLine": 5, "endColumn": 28},
    }
    assert result["fingerprints"] == {"devlint/v1": FINDING.fingerprint}
    assert result["partialFingerprints"] == {"primaryLocationLineHash": line_hashes(NET)[4]}
    (fix,) = result["fixes"]
    assert fix["description"]["text"] == "unsafe fix: add `device=x.device`"
    (change,) = fix["artifactChanges"]
    (replacement,) = change["replacements"]
    assert replacement == {
        "deletedRegion": {"startLine": 5, "startColumn": 27, "endLine": 5, "endColumn": 27},
        "insertedContent": {"text": ", device=x.device"},
    }
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["originalUriBaseIds"] == {"%SRCROOT%": {"uri": "file:///nowhere/"}}
    assert run["automationDetails"] == {"id": "devlint/"}
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 1, "toolExecutionNotifications": []}]


def test_a_clean_run_has_all_rules_and_no_result() -> None:
    run = written(CLEAN)
    assert run["results"] == []
    assert run["tool"]["driver"]["rules"] == written(RESULT)["tool"]["driver"]["rules"]


def test_what_could_not_be_looked_at_is_told_to_the_reader() -> None:
    (invocation,) = written(FAILED)["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["exitCode"] == 2
    told = [notification["message"]["text"] for notification in invocation["toolExecutionNotifications"]]
    assert told == [
        "gone.py: no such file or directory",
        "cannot be analysed: byte 0xff is not valid utf-8",
    ]


def test_levels_follow_severities_and_what_a_run_found_out() -> None:
    unreached = replace(FINDING, verdict=Verdict(VerdictState.NOT_REACHED))
    run = written(Result((FINDING, WARNING, NOTE), 1))
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]
    run = written(Result((CONFIRMED, unreached, REFUTED), 1, confirming=True))
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]


def test_verdicts_and_entries_are_kept() -> None:
    entries = (EntryRun("net:build", "cuda:0", True, "ran"),)
    run = written(Result((CONFIRMED,), 1, confirming=True, entries=entries))
    assert run["results"][0]["properties"]["verdict"]["state"] == "confirmed"
    assert (
        "\nConfirmed: on cuda:0 (simulated) by net:Build.\nnot one device.\nHelp: "
        in run["results"][0]["message"]["text"]
    )
    assert run["properties"]["entries"][0]["entry"] == "net:build"
    assert run["automationDetails"] == {"id": "devlint-confirm/"}


def test_a_region_of_many_lines_ends_with_its_first() -> None:
    long = replace(FINDING, place=Place("src/net.py", 5, 14, 7, 3), trace=())
    region = written(Result((long,), 1))["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 5, "startColumn": 14, "endLine": 5, "endColumn": 28}


def test_a_place_in_a_notebook_is_a_line_of_its_file() -> None:
    place = Place("nb.ipynb", 2, 5, 2, 9, cell=3, file_line=4)
    step = TraceStep(place, "made here")
    (result,) = written(Result((replace(FINDING, place=place, trace=(step,)),), 1), {"nb.ipynb": b'{\n\n\n  "x"\n}'})[
        "results"
    ]
    expected = {"startLine": 4, "startColumn": 1, "endLine": 4, "endColumn": 6}
    assert result["locations"][0]["physicalLocation"]["region"] == expected
    assert result["relatedLocations"][0]["physicalLocation"]["region"] == expected


def test_columns_of_fixes_count_code_points_and_lines_whatever_ends_them() -> None:
    data = "\ufeff# 日本\r\nx = '日本' + y\r\n".encode()
    at = data.index(b"y")
    fix = Fix(Applicability.SAFE, "no", (Edit(at, at + 1, "z"),))
    finding = replace(FINDING, place=Place("b.py", 2, 12, 2, 13), fix=fix, trace=())
    (result,) = written(Result((finding,), 1), {"b.py": data})["results"]
    (replacement,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["deletedRegion"] == {"startLine": 2, "startColumn": 12, "endLine": 2, "endColumn": 13}


def test_a_fix_that_no_longer_fits_the_file_is_left_out() -> None:
    (result,) = written(Result((replace(FINDING, place=Place("b.py", 1, 1, 1, 2)),), 1), {"b.py": b"x\n"})["results"]
    assert "fixes" not in result


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("src/a b.py", "src/a%20b.py"),
        ("日.py", "%E6%97%A5.py"),
        ("c:d.py", "c%3Ad.py"),
        ("50%.py", "50%25.py"),
        ("a#b?.py", "a%23b%3F.py"),
        ("\udcff.py", "%FF.py"),
    ],
)
def test_paths_are_percent_encoded(path: str, uri: str) -> None:
    (result,) = written(Result((replace(FINDING, place=replace(MADE, path=path)),), 1), {path: NET})["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_a_path_outside_of_the_repository_is_a_uri_of_its_own() -> None:
    (result,) = written(Result((replace(FINDING, place=replace(MADE, path="../else where.py")),), 1))["results"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "file:///else%20where.py"}


def test_code_that_looks_like_a_link_is_none() -> None:
    odd = replace(FINDING, message="`self.layers[0](1)` and `x[1]`", trace=(TraceStep(MADE, "`a[0]\\b`: made here"),))
    (result,) = written(Result((odd,), 1))["results"]
    text = result["message"]["text"]
    assert r"`self.layers\[0\](1)` and `x[1]`." in text
    assert r"[`a\[0\]\\b`: made here](1)" in text


@settings(max_examples=25, deadline=None)
@given(findings())
def test_no_text_breaks_the_document(finding: Finding) -> None:
    run = written(Result((finding,), 1), {finding.place.path: NET})
    json.dumps(run, ensure_ascii=False).encode("utf-8")  # raises for what is no Unicode
