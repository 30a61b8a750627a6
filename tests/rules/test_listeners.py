"""A rule that sleeps costs a file nothing until something wakes it, and is then told what came before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from devlint.rules import engine, listeners
from devlint.rules.listeners import reported
from devlint.rules.registry import rule_classes
from tests.fixture_expectations import fixtures_of, lint_fixture, lint_text
from tests.rules.temporary_rules import rule_file, rules_beside

if TYPE_CHECKING:
    from devlint.drafts.draft import Draft
    from devlint.placement.domain.events import Event
    from devlint.rules.rule import Rule

WAKING = """\
from devlint.rules.waking import always, any_of

wakes_at = {wakes}
_heard = ()

{more}def called(self, event: Called) -> Iterable[Draft]:
    self._heard = (*self._heard, event)
    return ()

def moved(self, event: Moved) -> Iterable[Draft]:
    return ()

def finish(self) -> Iterable[Draft]:
    names = ", ".join(event.name for event in self._heard)
    yield Draft(node=self._heard[0].node, scope=self._heard[0].scope, message=names)
"""

BY_CALL = """\
@staticmethod
def wakes_at_call(name: str) -> bool:
    return name == "torch.relu"

"""

BEFORE = "import torch\n\nx = torch.zeros(1)\n"


def heard(directory: Path, text: str, wakes: str = "any_of()", more: str = "") -> list[str]:
    body = WAKING.format(wakes=wakes, more=more).split("\n\n", 1)
    path = rule_file(directory / "temporary", body[1])
    path.write_text(path.read_text().replace("\n\nif TYPE_CHECKING", f"\n{body[0]}\n\nif TYPE_CHECKING", 1))
    with rules_beside(directory):
        return [finding.message for finding in lint_text(text, "library.py") if finding.code == "DEV999"]


def test_a_rule_without_conditions_hears_all(tmp_path: Path) -> None:
    assert heard(tmp_path, BEFORE) == ["torch.zeros"]


@pytest.mark.parametrize(("wakes", "more"), [("any_of(moved=always)", ""), ("any_of()", BY_CALL)])
def test_a_sleeping_rule_says_nothing(tmp_path: Path, wakes: str, more: str) -> None:
    assert heard(tmp_path, BEFORE, wakes, more) == []


def test_an_event_wakes_a_rule_that_is_told_what_came_before(tmp_path: Path) -> None:
    text = f"{BEFORE}y = x.cuda()\nz = torch.relu(y)\n"
    assert heard(tmp_path, text, "any_of(moved=always)") == ["torch.zeros, .cuda, torch.relu"]


def test_an_event_that_is_not_meant_wakes_no_rule(tmp_path: Path) -> None:
    text = f"{BEFORE}y = x.cuda()\n"
    assert heard(tmp_path, text, 'any_of(moved=lambda event: event.method == "cpu")') == []


def test_a_call_wakes_a_rule(tmp_path: Path) -> None:
    assert heard(tmp_path, f"{BEFORE}y = torch.relu(x)\n", more=BY_CALL) == ["torch.zeros, torch.relu"]


def test_a_name_that_is_no_event_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="Temporary wakes at move, which is no event"):
        heard(tmp_path, BEFORE, "any_of(move=always)")


@pytest.mark.parametrize("folder", sorted({path.parent for path in fixtures_of("rules")}), ids=lambda path: path.name)
def test_what_a_rule_is_told_late_it_would_have_said_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that needs an event which its ``wakes_at`` does not name would say less than one that never slept."""
    told: list[list[Event]] = []

    def recorded(events: Iterable[Event]) -> Iterator[tuple[Rule, Draft]]:
        told.append(list(events))
        return reported(told[-1])

    monkeypatch.setattr(engine, "reported", recorded)
    for path in fixtures_of(f"rules/{folder.name}"):
        lint_fixture(path)
    late = [said(events) for events in told]
    for cls in rule_classes():
        monkeypatch.setattr(cls, "sleeps", False)
    monkeypatch.setattr(listeners, "_woken_by", lambda name: ())
    assert [said(events) for events in told] == late


def said(events: list[Event]) -> Counter[tuple[str, str, str, int]]:
    drafts = reported(events)
    return Counter((rule.code, draft.message, draft.confidence.name, id(draft.node)) for rule, draft in drafts)
