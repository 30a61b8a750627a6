"""Every fixture gets exactly the findings that it says it gets."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from devlint.rules.registry import all_rules
from devlint.source.words_of_torch import bytes_may_hold_findings
from tests.fixture_expectations import FIXTURES, expectations_of, fixtures_of, lint_fixture

PROGRAMS = fixtures_of("rules", "seeds", "lookalikes", "idioms", "found", "generalisation")
CODES = [rule.code for rule in all_rules() if not rule.code.startswith("DEV9")]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.relative_to(FIXTURES).as_posix())
def test_fixture_gets_exactly_its_findings(path: Path) -> None:
    expectations = expectations_of(path, path.read_text("utf-8"))
    findings = lint_fixture(path)
    reported = expectations.reported(findings)

    found_at_last = sorted(expectations.known_misses & reported)
    assert not found_at_last, f"a known miss is found now, remove its mark: {found_at_last}"
    gone = sorted(expectations.known_false_alarms - reported)
    assert not gone, f"a known false alarm is gone, remove its mark: {gone}"

    due = expectations.expected | expectations.known_false_alarms
    messages = [f"{f.place.line}: {f.code} {f.message}" for f in findings]
    assert sorted(reported) == sorted(due), "\n".join(messages)


def test_no_fixture_is_right_because_nothing_of_it_is_analysed() -> None:
    unread = [str(path.relative_to(FIXTURES)) for path in PROGRAMS if not bytes_may_hold_findings(path.read_bytes())]
    assert not unread, f"these do not name torch, so that only their syntax is checked: {unread}"


@pytest.mark.parametrize("code", CODES)
def test_rule_has_programs_that_are_flagged_and_programs_that_are_right(code: str) -> None:
    flagged, right = 0, 0
    for path in fixtures_of(f"rules/{code}"):
        text = path.read_text("utf-8")
        marked = {line for line, expected in expectations_of(path, text).expected if expected == code}
        for definition in ast.parse(text).body:
            lines = range(definition.lineno, (definition.end_lineno or definition.lineno) + 1)
            flagged += not marked.isdisjoint(lines)
            right += marked.isdisjoint(lines) and isinstance(definition, (ast.FunctionDef, ast.ClassDef))
    assert flagged, f"fixtures/rules/{code} has nothing that is flagged"
    assert right, f"fixtures/rules/{code} has nothing that is right"
