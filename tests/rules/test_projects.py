"""Every file of the fixture projects gets exactly the findings that it says it gets, with the project around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.configuration.codes import all_codes
from devlint.finding import Finding
from devlint.pipeline.file_report import analyse_file
from devlint.pipeline.task import FileTask, Gate
from tests.fixture_expectations import FIXTURES, expectations_of

PROJECTS = sorted((FIXTURES / "projects").rglob("*.py"))
EVERYTHING = Gate(frozenset(all_codes()))


def lint(file: Path, cwd: Path = FIXTURES) -> tuple[Finding, ...]:
    shown = file.relative_to(cwd).as_posix()
    task = FileTask(str(file), shown, shown, shown, EVERYTHING, cwd=str(cwd))
    return analyse_file(task).findings


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: path.relative_to(FIXTURES).as_posix())
def test_file_of_a_project_gets_exactly_its_findings(path: Path) -> None:
    expected = expectations_of(path, path.read_text("utf-8"))
    findings = lint(path)
    found = {(finding.place.line, finding.code) for finding in findings}
    messages = [f"{f.place.line}: {f.code} {f.message}" for f in findings]
    assert sorted(found) == sorted(expected.expected | expected.known_false_alarms), "\n".join(messages)
    assert not expected.known_misses & found


def test_a_trace_leads_into_the_other_file() -> None:
    findings = lint(FIXTURES / "projects/helpers/pkg/model.py")
    finding = next(f for f in findings if f.scope == "ThroughTwo.forward")
    places = [(step.place.path.rsplit("/", 1)[-1], step.place.line) for step in finding.trace]
    assert places[:3] == [("ops.py", 5), ("ops.py", 17), ("model.py", 29)]
    assert finding.fix is not None
    assert "ops.py" in finding.fix.message


def test_a_trace_names_the_calls_that_lead_into_the_other_file() -> None:
    findings = lint(FIXTURES / "projects/helpers/pkg/model.py")
    finding = next(f for f in findings if f.scope == "HandedOn.forward")
    *_, call, within, meeting = [(step.message, step.place.path.rsplit("/", 1)[-1]) for step in finding.trace]
    assert (call, within) == (("handed on here", "model.py"), ("handed on here", "ops.py"))
    assert meeting == ("they meet here", "ops.py")


def test_what_was_analysed_before_changes_nothing() -> None:
    alone = {path: lint(path) for path in PROJECTS}
    backwards = {path: lint(path) for path in reversed(PROJECTS)}
    assert alone == backwards


def test_a_trace_names_the_calls_that_lead_to_a_read_in_the_other_file() -> None:
    findings = lint(FIXTURES / "projects/handed_to_readers/pkg/evaluation.py")
    finding = next(f for f in findings if f.scope == "decode")
    *_, call, within, read = [(step.message, step.place.path.rsplit("/", 1)[-1]) for step in finding.trace]
    assert call == ("handed on here", "evaluation.py")
    assert within == ("handed on here", "drawing.py")
    assert read == ("read on the host here", "drawing.py")
