"""Runs that exceed what GitHub code scanning takes."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import replace
from typing import Any

import pytest

from devlint.configuration.codes import all_codes
from devlint.finding import Place, Severity, TraceStep
from devlint.pipeline.result import Result
from devlint.reports import sarif_rules
from devlint.reports.document import Document
from devlint.reports.sarif import sarif_document
from devlint.reports.shortening import ends
from devlint.rules.registry import RuleInfo
from tests.reports.examples import FINDING, NOTE, WARNING, many, repository, source
from tests.reports.test_sarif import assert_github_takes, validator

PLAIN = replace(FINDING, trace=(), fix=None)


def written(result: Result) -> tuple[Document, dict[str, Any]]:
    document = sarif_document(result, source(), repository())
    parsed = json.loads(document.text)
    (run,) = parsed["runs"]
    assert_github_takes(parsed)
    validator().validate({**parsed, "runs": [{**run, "results": run["results"][:3] + run["results"][-3:]}]})
    return document, run


def told(run: dict[str, Any]) -> list[str]:
    return [notification["message"]["text"] for notification in run["invocations"][0]["toolExecutionNotifications"]]


def test_of_more_than_25_000_results_the_gravest_are_kept_and_the_rest_counted() -> None:
    findings = (*many(100, NOTE), *many(25_000, WARNING), *many(10, PLAIN))
    document, run = written(Result(findings, 1))
    assert [result["level"] for result in run["results"]] == ["error"] * 10 + ["warning"] * 24_990
    (left_out, shown) = document.remarks
    assert left_out.startswith("110 findings of 25,110 left out, the least severe")
    assert shown.startswith("GitHub shows 5,000 of these 25,000 results")
    assert told(run) == [left_out, shown]


def test_beyond_5_000_results_the_gravest_come_first() -> None:
    document, run = written(Result((*many(5_000, WARNING), *many(1, PLAIN)), 1))
    assert [result["level"] for result in run["results"][:2]] == ["error", "warning"]
    assert len(run["results"]) == 5_001
    assert document.remarks == ("GitHub shows 5,000 of these 5,001 results; the gravest come first",)


def test_5_000_results_keep_their_order_and_nothing_is_remarked() -> None:
    document, run = written(Result((*many(4_999, WARNING), *many(1, PLAIN)), 1))
    assert run["results"][-1]["level"] == "error"
    assert document.remarks == ()
    assert told(run) == []


def test_a_file_of_more_than_10_megabytes_in_gzip_loses_its_least_grave_findings() -> None:
    noise = random.Random(1)
    long = [replace(WARNING, message=noise.randbytes(5_000).hex(), fingerprint=f"{n:064x}") for n in range(2_400)]
    document, run = written(Result((*long, *many(5, PLAIN)), 1))
    size = len(gzip.compress(document.text.encode("ascii")))
    assert 8_000_000 < size <= 10_000_000
    assert [result["level"] for result in run["results"][:6]] == ["error"] * 5 + ["warning"]
    (remark,) = document.remarks
    assert remark.startswith(f"{2_405 - len(run['results'])} findings of 2,405 left out")
    assert told(run) == [remark]


def test_of_a_long_trace_both_ends_are_kept() -> None:
    trace = tuple(TraceStep(Place("src/net.py", 1 + n % 7, 1, 1 + n % 7, 2), f"step {n}") for n in range(1, 10_002))
    document, run = written(Result((replace(PLAIN, trace=trace),), 1))
    (result,) = run["results"]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert len(steps) == 1_000
    assert [step["executionOrder"] for step in (steps[0], steps[499], steps[500], steps[-1])] == [1, 500, 9_502, 10_001]
    assert [location["id"] for location in result["relatedLocations"]] == [*range(1, 51), *range(9_952, 10_002)]
    assert "(50), [step 9952](9952)" in result["message"]["text"]
    assert document.remarks == ("1 trace cut in the middle: GitHub shows 1,000 steps of a trace",)


def test_a_rules_texts_and_tags_are_kept_short(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "Short. " * 300 + "\n\n## What it does\n\n" + "Long. " * 300
    wordy = RuleInfo("DEV101", "n" * 300, Severity.ERROR, Severity.ERROR, "s" * 2_000, page)
    monkeypatch.setattr(sarif_rules, "all_codes", lambda: {**all_codes(), "DEV101": wordy})
    monkeypatch.setattr(sarif_rules, "tags", lambda code: [f"tag{number}" for number in range(25)])
    _, run = written(Result((PLAIN,), 1))
    rule = run["tool"]["driver"]["rules"][0]
    assert len(rule["name"]) == 255
    assert len(rule["shortDescription"]["text"]) == 1_024
    assert 1_000 < len(rule["fullDescription"]["text"]) <= 1_024
    assert len(rule["properties"]["tags"]) == 10


@pytest.mark.parametrize("length", [0, 1, 9, 10, 11, 12, 500])
def test_ends_take_from_both_sides(length: int) -> None:
    kept = ends(range(length), 10)
    assert len(kept) == min(length, 10)
    assert kept == sorted(set(kept))
    if length:
        assert (kept[0], kept[-1]) == (0, length - 1)
