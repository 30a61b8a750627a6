"""Lists for programs and for people: JSON lines and the grouped form."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given, settings

from devlint.finding import Applicability, Edit, Finding, Fix, Place
from devlint.pipeline.result import Result
from devlint.reports.grouped import grouped_lines
from devlint.reports.json_document import finding_fields
from devlint.reports.json_lines import json_lines
from devlint.reports.painting import paint
from tests.reports.examples import CLEAN, CONFIRMED, FINDING, RESULT, UNREADABLE, WARNING, findings


def test_each_line_is_a_finding_as_the_json_form_has_it() -> None:
    lines = json_lines(RESULT).splitlines()
    assert [json.loads(line) for line in lines] == [finding_fields(finding) for finding in RESULT.findings]


def test_a_clean_run_has_no_lines() -> None:
    assert json_lines(CLEAN) == ""


@settings(max_examples=40, deadline=None)
@given(findings())
def test_a_finding_never_takes_two_lines(finding: Finding) -> None:
    assert len(json_lines(Result((finding, finding), 1)).splitlines()) == 2
    assert len(paint(grouped_lines([finding, finding]), False).splitlines()) == 4


def test_findings_stand_under_their_files_in_columns() -> None:
    safe = replace(
        WARNING, place=Place("src/net.py", 120, 3, 120, 4), fix=Fix(Applicability.SAFE, "", (Edit(1, 2, ""),))
    )
    assert paint(grouped_lines([CONFIRMED, safe, UNREADABLE]), False) == (
        "src/net.py:\n"
        f"   5:14 DEV101 error {FINDING.message} (confirmed)\n"
        f"  120:3 DEV301 warning [*] {WARNING.message}\n"
        "\n"
        "src/latin.py:\n"
        "  1:1 DEV902 error cannot be analysed: byte 0xff is not valid utf-8\n"
        "\n"
    )
