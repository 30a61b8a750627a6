"""JUnit XML."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import xmlschema
from hypothesis import given, settings

from devlint.finding import Finding, Verdict, VerdictState
from devlint.pipeline.result import Result
from devlint.reports.junit import junit_document
from tests.reports.examples import (
    CLEAN,
    CONFIRMED,
    FAILED,
    FINDING,
    NOTE,
    REFUTED,
    RESULT,
    findings,
    repository,
)


@cache
def schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(Path(__file__).with_name("schemas") / "junit-10.xsd")


def written(result: Result) -> ElementTree.Element:
    """The document, after it has been seen to be valid, rightly counted, and red exactly if the exit code is."""
    text = junit_document(result, repository())
    assert text.isascii()
    schema().validate(text)
    root = ElementTree.fromstring(text)
    for element in (root, *root.iter("testsuite")):
        cases = list(element.iter("testcase"))
        assert int(element.attrib["tests"]) == len(cases) > 0
        assert int(element.attrib["failures"]) == sum(case.find("failure") is not None for case in cases)
        assert int(element.attrib["errors"]) == sum(case.find("error") is not None for case in cases)
    red = int(root.attrib["failures"]) + int(root.attrib["errors"])
    assert (red > 0) is (result.exit_code != 0)
    assert (int(root.attrib["errors"]) > 0) is (result.exit_code == 2)
    return root


def test_a_failure_tells_all() -> None:
    root = written(RESULT)
    (suite,) = root.iter("testsuite")
    assert suite.attrib["name"] == "src/net.py"
    case = suite[0]
    assert case.attrib == {
        "classname": "src/net.py",
        "name": "DEV101 creation-without-device at 5:14 in Net.forward",
    }
    (failure,) = case
    assert failure.attrib["type"] == "error"
    assert failure.attrib["message"] == FINDING.message
    assert (failure.text or "").splitlines() == [
        f"src/net.py:5:14: {FINDING.message}",
        "1 `torch.zeros`: made here, on cpu (src/net.py:5:14)",
        "2 moved here, to cuda (src/net.py:6:14)",
        "3 they meet here (src/net.py:7:12)",
        "help: create it where the input is",
        "unsafe fix: add `device=x.device`",
    ]


def test_a_clean_run_is_one_case_that_passes() -> None:
    (case,) = written(CLEAN).iter("testcase")
    assert list(case) == []
    (case,) = written(Result((), 0, nothing="no Python file among the paths")).iter("testcase")
    assert case.attrib["name"] == "no Python file among the paths"


def test_what_could_not_be_looked_at_is_an_error() -> None:
    root = written(FAILED)
    assert [error.attrib["message"] for error in root.iter("error")] == [
        "gone.py: no such file or directory",
        "cannot be analysed: byte 0xff is not valid utf-8",
    ]


def test_a_note_does_not_fail() -> None:
    (case,) = written(Result((NOTE,), 1)).iter("testcase")
    assert case[0].tag == "system-out"


def test_of_a_confirming_run_only_what_was_confirmed_fails() -> None:
    unreached = replace(FINDING, verdict=Verdict(VerdictState.NOT_REACHED))
    root = written(Result((CONFIRMED, REFUTED, unreached, FINDING), 1, confirming=True))
    kinds = [case[0].tag for case in root.iter("testcase")]
    assert kinds == ["failure", "system-out", "skipped", "skipped"]
    assert "confirmed: on cuda:0 (simulated) by net:Build" in (next(root.iter("failure")).text or "")


def test_characters_that_xml_cannot_hold_are_made_visible() -> None:
    odd = replace(FINDING, message="a\x00b\x1bc\ufffed\udcffe\u2028")
    (failure,) = written(Result((odd,), 1)).iter("failure")
    assert failure.attrib["message"] == "a␀b␛c\ufffdd\\udcffe\ufffd"


@settings(max_examples=40, deadline=None)
@given(findings())
def test_no_text_breaks_the_document(finding: Finding) -> None:
    written(Result((finding,), 1))
