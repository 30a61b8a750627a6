"""What a finding of a run says of its operands: where they were made, moved and computed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from devlint.confirmation.lifted import Sighting, report_on
from devlint.finding import Finding
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
