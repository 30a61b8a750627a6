"""What a finding of a run says of its operands: where they were made, moved and computed."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import pytest
import torch
from torch import Tensor

from devlint.confirmation.lifted import Sighting, report_on
from devlint.finding import Finding
from devlint.runtime.frames import spot
from devlint.runtime.keeping import kept_at
from devlint.runtime.observation import Observation
from devlint.runtime.session import observe
from devlint.runtime.simulated import SimulatedMachine


def made(x: Tensor) -> Tensor:
    shift = torch.ones(3)
    return x + shift


def computed(x: Tensor) -> Tensor:
    base = torch.ones(3)
    shift = base * 2
    return x + shift


def moved(x: Tensor) -> Tensor:
    shift = x.cpu()
    return x + shift


def computed_on_the_accelerator(x: Tensor) -> Tensor:
    scaled = x * 2
    shift = torch.ones(3)
    return scaled + shift


def scaled_by(x: Tensor, factor: Tensor) -> Tensor:
    return x * factor


def window() -> Tensor:
    return torch.ones(3)


def brought_together(x: Tensor) -> Tensor:
    factor = window()
    return scaled_by(x, factor)


def finding_of(program: str) -> Finding:
    found: list[Observation] = []
    machine = SimulatedMachine(1)
    with observe(machine, found.append, device="cuda:0"):
        globals()[program](torch.zeros(3, device="cuda:0"))
    # Beside the module's own file everything may be a test's.
    root = Path(__file__).parents[1]
    clashes = [Sighting(observation, ("test",)) for observation in found if observation.kind == "clash"]
    (finding,) = report_on(clashes, root, "cuda:0").result.findings
    return finding


def test_of_helpers_the_call_is_shown_that_brings_together_what_they_make_and_take() -> None:
    calls = [step.place.line for step in finding_of("brought_together").trace if step.message == "called here"]
    assert calls[0] == brought_together.__code__.co_firstlineno + 2
    # What is made where it meets the other tells all by itself.
    assert all(step.message != "called here" for step in finding_of("made").trace)


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("made", {"`shift` was made here"}),
        ("computed", {"`shift` was made here", "`shift` was computed here"}),
        ("moved", {"`shift` was made here", "`shift` was moved here"}),
        ("computed_on_the_accelerator", {"`shift` was made here", "`scaled` was computed here"}),
    ],
)
def test_made_is_said_of_what_was_made_and_computed_of_what_was_computed(program: str, told: set[str]) -> None:
    lines = {step.message for step in finding_of(program).trace}
    assert {line for line in lines if "`shift`" in line or "`scaled`" in line} == told


def test_each_line_that_a_stray_operand_comes_from_is_told_once() -> None:
    found: list[Observation] = []
    with observe(SimulatedMachine(1), found.append, device="cuda:0"):
        x = torch.zeros(3, device="cuda:0")
        for factor in (window(), torch.ones(3), window()):
            scaled_by(x, factor)
    clashes = [Sighting(each, (f"test_{n}",)) for n, each in enumerate(found) if each.kind == "clash"]
    report = report_on(clashes, Path(__file__).parents[1], "cuda:0")
    (finding,) = report.result.findings
    made = [step for step in finding.trace if step.device == "cpu"]
    assert [step.message for step in made] == ["`factor` was made here", "another time `factor` was made here"]
    assert made[0].place.line == window.__code__.co_firstlineno + 1
    assert len(report.tests[finding.fingerprint]) > 1
    # What is said of the meeting comes after the values' ways.
    assert next(step.message for step in finding.trace if step.device is None) == "met here"


class Metric:
    """No Module: nobody moves what it keeps. ``table`` is made by a method, ``steps`` where it is kept, ``seen`` is
    kept twice."""

    def __init__(self) -> None:
        self.table = self._ramp()
        self.steps = torch.arange(3)
        self.seen = self._ramp()

    def _ramp(self) -> Tensor:
        return torch.ones(3)

    def reset(self) -> None:
        self.seen = self._ramp()

    def update_by_table(self, x: Tensor) -> Tensor:
        return x * self.table

    def update_by_steps(self, x: Tensor) -> Tensor:
        return x * self.steps

    def update_by_seen(self, x: Tensor) -> Tensor:
        return x * self.seen


class Derived(Metric):
    pass


def finding_of_metric(method: str) -> Finding:
    found: list[Observation] = []
    with observe(SimulatedMachine(1), found.append, device="cuda:0"):
        getattr(Derived(), method)(torch.zeros(3, device="cuda:0"))
    (clash,) = [Sighting(observation, ("test",)) for observation in found if observation.kind == "clash"]
    (finding,) = report_on([clash], Path(__file__).parents[1], "cuda:0").result.findings
    return finding


def test_of_an_attribute_it_is_shown_where_it_was_kept() -> None:
    finding = finding_of_metric("update_by_table")
    kept = [step.place for step in finding.trace if step.message == "`self.table` was kept here"]
    assert [place.line for place in kept] == [Metric.__init__.__code__.co_firstlineno + 1]
    assert finding.verdict is not None
    (table, _) = finding.verdict.operands
    assert table.kept is not None
    assert table.born is not None
    assert table.born.line == Metric._ramp.__code__.co_firstlineno + 1
    assert table.kept.line == kept[0].line


@pytest.mark.parametrize("method", ["update_by_steps", "update_by_seen"])
def test_where_it_was_kept_is_not_said_of_what_is_made_there_nor_of_what_is_kept_at_several_places(method: str) -> None:
    assert all("kept" not in step.message for step in finding_of_metric(method).trace)


class Kept:
    """Assignments in several shapes; each is the only one of its attribute but that of ``both``."""

    def __init__(self) -> None:
        self.pair, self.other = torch.ones(2), torch.ones(3)
        self.both = torch.ones(1)

        def later() -> Kept:
            return self

        later().strange = torch.ones(4)  # type: ignore[attr-defined]

    def fill(self, whom: Kept) -> None:
        self.filled = whom.pair
        whom.lent = self.filled  # type: ignore[attr-defined]
        self.both = whom.other

    def look(self) -> FrameType:
        frame = sys._getframe()
        assert isinstance(frame, FrameType)
        return frame


@pytest.mark.parametrize(
    ("path", "line"),
    [("self.pair", 1), ("self.other", 1), ("self.both", None), ("self.strange", None), ("self.lent", None)],
)
def test_the_one_assignment_to_an_attribute_of_self_keeps_it(path: str, line: int | None) -> None:
    kept = spot(kept_at(path, Kept().look()))
    assert (kept and kept.line) == (None if line is None else Kept.__init__.__code__.co_firstlineno + line)


def test_what_another_method_keeps_is_found_and_what_is_no_attribute_is_not() -> None:
    frame = Kept().look()
    kept = spot(kept_at("self.filled", frame))
    assert kept is not None
    assert kept.line == Kept.fill.__code__.co_firstlineno + 1
    assert [kept_at(path, frame) for path in ("pair", "self.pair[0]", "self.absent.pair")] == [None] * 3
