"""JUnit XML as Jenkins defines it: a suite for each file, a test case for each finding.

Source: junit-10.xsd of the Jenkins xUnit plugin, which pytest's own reports follow too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from xml.etree import ElementTree

from devlint.configuration.codes import UNREADABLE_FILE
from devlint.finding import Finding, Severity, VerdictState
from devlint.pipeline.result import Result
from devlint.reports.document import well_formed
from devlint.reports.painting import visible_lines
from devlint.reports.repository import Repository
from devlint.reports.wording import explanation

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot say, not even as a character reference."""


def junit_document(result: Result, repository: Repository) -> str:
    """The report, ASCII only. It has failures or errors exactly if the exit code is not 0."""
    seconds = f"{result.seconds:.3f}"
    suites = ElementTree.Element("testsuites", name="devlint", time=seconds)
    for name, cases in _suites(result, repository):
        suite = ElementTree.SubElement(suites, "testsuite", {"name": _xml(name), **_counts(cases)})
        suite.extend(cases)
    every = list(suites.iter("testcase"))
    for count, value in _counts(every).items():
        if count != "skipped":
            suites.set(count, value)
    ElementTree.indent(suites)
    document: bytes = ElementTree.tostring(suites, encoding="us-ascii", xml_declaration=True)
    return document.decode("ascii") + "\n"


def _suites(result: Result, repository: Repository) -> Iterator[tuple[str, list[ElementTree.Element]]]:
    """Names and test cases. A run with nothing to say is one case that passes: readers take no case for no run."""
    troubles = [f"{path}: no such file or directory" for path in result.missing]
    troubles += [result.not_run] if result.not_run else []
    if troubles or not result.findings:
        told = result.nothing or "no device-placement problem found"
        cases = [_trouble(trouble) for trouble in troubles] or [_case("devlint", told)]
        yield "devlint", cases
    for path, group in groupby(result.findings, key=lambda finding: finding.place.path):
        name = repository.path(path)
        yield name, [_finding(finding, name, repository, result.confirming) for finding in group]


def _finding(finding: Finding, name: str, repository: Repository, confirming: bool) -> ElementTree.Element:
    place = finding.place
    title = f"{finding.code} {finding.name} at {place.position}"
    case = _case(name, title + (f" in {finding.scope}" if finding.scope else ""))
    body = "\n".join([f"{name}:{place.position}: {finding.message}", *explanation(finding, repository.path)])
    kind = _kind(finding, confirming)
    if kind == "system-out":
        ElementTree.SubElement(case, kind).text = _xml(body)
    else:
        element = ElementTree.SubElement(case, kind, type=finding.severity.label, message=_xml(finding.message))
        element.text = _xml(body)
    return case


def _kind(finding: Finding, confirming: bool) -> str:
    """What a finding is among test results: it fails where it decides the exit code."""
    if finding.code == UNREADABLE_FILE:
        return "error"
    if confirming:
        state = finding.verdict.state if finding.verdict is not None else VerdictState.NOT_REACHED
        verdicts = {VerdictState.CONFIRMED: "failure", VerdictState.REFUTED: "system-out"}
        return verdicts.get(state, "skipped")
    return "failure" if finding.severity > Severity.NOTE else "system-out"


def _trouble(message: str) -> ElementTree.Element:
    case = _case("devlint", message)
    ElementTree.SubElement(case, "error", type="error", message=_xml(message))
    return case


def _case(classname: str, name: str) -> ElementTree.Element:
    return ElementTree.Element("testcase", name=_xml(name), classname=_xml(classname))


def _counts(cases: list[ElementTree.Element]) -> dict[str, str]:
    kinds = Counter(child.tag for case in cases for child in case)
    return {
        "tests": str(len(cases)),
        "failures": str(kinds["failure"]),
        "errors": str(kinds["error"]),
        "skipped": str(kinds["skipped"]),
    }


def _xml(text: str) -> str:
    """The text with what XML cannot hold made visible."""
    return _ILLEGAL.sub("\ufffd", visible_lines(well_formed(text)))
