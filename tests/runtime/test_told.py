"""Objects that are told a device when they are built, and what their constructors leave on the CPU."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
from torch import Tensor

from devlint.runtime.lifting.calls import Lifter
from devlint.runtime.lifting.targets import targets_of
from devlint.runtime.observation import Observation
from devlint.runtime.simulated import SimulatedMachine

CPU = torch.device("cpu")


class Curve:
    """A metric as they are written: what it is told is where it keeps its state."""

    def __init__(self, size: int = 5, device: str | torch.device = "cpu") -> None:
        self._device = torch.device(device)
        self.thresholds = torch.linspace(0, 1, size)
        self.counts = torch.zeros(size, device=self._device)

    def update(self, scores: Tensor) -> None:
        self.counts += (scores[:, None] > self.thresholds).sum(0)

    def compute(self) -> list[float]:
        result: list[float] = self.counts.tolist()
        return result


class WhereItIsTold(Curve):
    def __init__(self, size: int = 5, device: str | torch.device = CPU) -> None:
        super().__init__(size, device)
        self.thresholds = self.thresholds.to(self._device)


class GivenByTheCaller(Curve):
    def __init__(self, thresholds: Tensor, device: str = "cpu") -> None:
        super().__init__(len(thresholds), device)
        self.thresholds = thresholds.sort().values


class ToldNothing(Curve):
    def __init__(self, size: int = 5) -> None:
        super().__init__(size)


def halved(scores: Tensor) -> Tensor:
    return scores / 2


class KeepsALiftedFunction(Curve):
    def __init__(self, device: str = "cpu") -> None:
        super().__init__(device=device)
        self.thresholds = self.thresholds.to(self._device)
        self.transform = halved

    def update(self, scores: Tensor) -> None:
        assert scores.device == torch.device("cuda:1")
        super().update(2 * self.transform(scores))


class OfParts:
    def __init__(self, *, device: str = "cpu") -> None:
        self.parts = {"curve": WhereItIsTold(device=device)}
        self.settings = {"device": device}

    def update(self, scores: Tensor) -> None:
        self.parts["curve"].update(scores)


def observed(build: Any, scores: Tensor) -> tuple[Any, list[Observation]]:
    found: list[Observation] = []
    machine = SimulatedMachine(2)
    lifter = Lifter(found.append, machine, machine.device(1))
    with lifter.active(targets_of([f"{__name__}.*"])):
        built = build()
        built.update(scores)
    assert not lifter.not_lifted
    assert lifter.lifted == 2
    return built, [observation for observation in found if observation.kind == "clash"]


HERE = sys.modules[__name__]
SCORES = torch.tensor([0.1, 0.6, 0.9])
COUNTS = [3.0, 2.0, 2.0, 1.0, 0.0]


@pytest.mark.parametrize("build", [Curve, lambda: Curve(5, "cpu"), lambda: Curve(device=torch.device("cpu"))])
def test_what_the_constructor_leaves_on_the_cpu_is_met_there(build: Any) -> None:
    built, (clash,) = observed(build, SCORES)
    assert {operand.device for operand in clash.operands} == {"cpu", "cuda:1"}
    (stray,) = (operand for operand in clash.operands if operand.device == "cpu")
    assert stray.born is not None
    assert stray.born.scope == "Curve.__init__"
    assert (built._device, built.compute()) == (torch.device("cpu"), COUNTS)


@pytest.mark.parametrize(
    "build",
    [
        WhereItIsTold,
        lambda: GivenByTheCaller(torch.linspace(1, 0, 5)),
        KeepsALiftedFunction,
        ToldNothing,
        lambda: OfParts(device="cpu"),
    ],
)
def test_what_is_where_the_object_was_told_to_be_meets_nothing_else(build: Any) -> None:
    built, clashes = observed(build, SCORES)
    assert clashes == []
    curve = built.parts["curve"] if isinstance(built, OfParts) else built
    assert (curve._device, curve.compute()) == (torch.device("cpu"), COUNTS)
    if isinstance(built, OfParts):
        assert built.settings == {"device": "cpu"}


def test_a_device_that_is_not_the_cpu_is_left_alone() -> None:
    found: list[Observation] = []
    machine = SimulatedMachine(2)
    lifter = Lifter(found.append, machine, machine.device(1))
    with lifter.active(targets_of([f"{__name__}.*"])):
        assert Curve(device="meta").counts.is_meta
    assert found == []


def usual_device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def usual_devices() -> dict[str, Any]:
    return {"backends": ["cpu", "cuda"], "all": [usual_device(), torch.device("cuda", 1)], "n": 1}


def usual_name() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def test_what_names_a_device_of_the_machine_names_the_cpu_outside() -> None:
    machine = SimulatedMachine(2)
    lifter = Lifter(lambda observation: None, machine, machine.device(1))
    with lifter.active(targets_of([f"{__name__}.*"])):
        device, devices, name = usual_device(), usual_devices(), usual_name()
    assert lifter.lifted == 3
    assert torch.ones(3, device=device).device == CPU
    assert devices == {"backends": ["cpu", "cuda"], "all": [CPU, CPU], "n": 1}
    assert name == "cpu"
