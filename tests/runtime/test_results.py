"""What lifted functions hand back on the CPU: made there in passing, or wanted there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from devlint.runtime.lifting.calls import Lifter
from devlint.runtime.lifting.targets import targets_of
from devlint.runtime.observation import Observation
from devlint.runtime.simulated import SimulatedMachine


def shear(center: Tensor, amount: Tensor | None = None) -> Tensor:
    amount = torch.tensor([0.5]).repeat(center.size(0)) if amount is None else amount
    return amount.tan()


def kernel(angle: Tensor) -> Tensor:
    made = torch.zeros(len(angle), 3)
    made[:, 1] = 1.0
    return made


def in_a_dict(x: Tensor) -> dict[str, Any]:
    return {"scaled": x * 2, "window": torch.hann_window(x.size(0))}


class Grid:
    def __init__(self, size: int) -> None:
        self.size = size

    def over(self, x: Tensor) -> Tensor:
        return torch.linspace(0, 1, self.size)


class Curve:
    """Keeps what it is given, as metrics do."""

    def __init__(self) -> None:
        self.rows = [X]

    def compute(self) -> Tensor:
        return torch.zeros(len(self.rows)) + torch.ones(1)


class Case:
    """Has to do with tensors by far, as the case of a test that they are in."""

    def __init__(self) -> None:
        self.suite = Curve()

    def targets(self) -> Tensor:
        return torch.randn(3)


def mean_per_row(x: Tensor) -> Tensor:
    return x.mean(1).cpu() + torch.ones(len(x))


def from_numbers(x: Tensor) -> Tensor:
    return torch.tensor([row.sum().item() for row in x])


def through_numpy(x: Tensor) -> Tensor:
    return torch.from_numpy(np.sort(x.cpu().numpy(), axis=0))


def collected(x: Tensor) -> Tensor:
    losses = torch.zeros(len(x))
    for number, row in enumerate(x):
        losses[number] = row.sum().item()
    return losses


def collected_on_the_host(x: Tensor) -> Tensor:
    means = torch.zeros(len(x))
    means[:] = x.mean(1).cpu()
    return means


def where_it_is_told(x: Tensor, device: str = "cpu") -> Tensor:
    return torch.zeros(len(x), device=device) + torch.ones(len(x)).to(device)


def numbers_of_rows(x: Tensor) -> Tensor:
    return torch.arange(len(x))


def one_number(x: Tensor) -> Tensor:
    return torch.tensor(0.5) * len(x)


def given_no_tensor(size: int) -> Tensor:
    return torch.zeros(size)


def where_the_input_is(x: Tensor) -> Tensor:
    return torch.zeros_like(x) + torch.ones(len(x), 1, device=x.device)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
        self.table = torch.ones(3)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale

    def kept(self, x: Tensor) -> Tensor:
        return self.table

    def first_state(self) -> Tensor:
        return torch.zeros(2)


class Biased(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale + torch.ones(2)


class Remembers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
        self.store = {0: (0, torch.zeros(2)), 1: (1, torch.zeros(2))}

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x * self.scale, self.store[1][1][None]])


X = torch.rand(4, 2)


def strayed(owner: Any, name: str, call: Callable[[], Any]) -> list[Observation]:
    found: list[Observation] = []
    machine = SimulatedMachine(2)
    lifter = Lifter(found.append, machine, machine.device(1))
    with lifter.active(((owner, name),)):
        call()
    assert not lifter.not_lifted
    assert lifter.lifted == 1
    assert {observation.kind for observation in found} <= {"strayed", "host-sync"}
    return [observation for observation in found if observation.kind == "strayed"]


HERE = sys.modules[__name__]


@pytest.mark.parametrize("name", ["shear", "kernel", "in_a_dict"])
def test_a_result_that_was_made_on_the_cpu_in_passing(name: str) -> None:
    (observation,) = strayed(HERE, name, lambda: getattr(HERE, name)(X))
    (operand,) = observation.operands
    assert (operand.device, observation.detail) == ("cpu", "output")
    assert operand.born is not None
    assert operand.born.scope == name


def test_a_method_that_is_given_a_tensor() -> None:
    grid = Grid(5)
    (observation,) = strayed(Grid, "over", lambda: grid.over(X))
    assert observation.operands[0].born is not None
    assert observation.operands[0].born.scope == "Grid.over"


@pytest.mark.parametrize(
    "name",
    [
        "mean_per_row", "from_numbers", "through_numpy", "collected", "collected_on_the_host", "where_it_is_told",
        "numbers_of_rows", "one_number", "where_the_input_is",
    ],
)  # fmt: skip
def test_results_that_are_wanted_on_the_host_or_are_where_the_input_is(name: str) -> None:
    assert strayed(HERE, name, lambda: getattr(HERE, name)(X)) == []


def test_a_function_that_is_given_no_tensor_cannot_know() -> None:
    assert strayed(HERE, "given_no_tensor", lambda: given_no_tensor(3)) == []


def test_a_method_of_an_object_that_keeps_tensors() -> None:
    (observation,) = strayed(Curve, "compute", lambda: Curve().compute())
    assert observation.operands[0].born is not None
    assert observation.operands[0].born.scope == "Curve.compute"
    assert strayed(Case, "targets", lambda: Case().targets()) == []


def test_what_a_module_keeps_or_makes_without_a_tensor_meets_nothing() -> None:
    net = Net()
    assert strayed(Net, "first_state", lambda: net.first_state()) == []
    assert strayed(Net, "kept", lambda: net.kept(X)) == []


def test_a_forward_that_is_called_without_its_module() -> None:
    found: list[Observation] = []
    machine = SimulatedMachine(2)
    lifter = Lifter(found.append, machine, machine.device(1))
    net = Biased()
    with lifter.active(targets_of([f"{__name__}.*"])):
        out = net.forward(X)
        scripted = torch.jit.script(net)
        assert torch.equal(scripted(X), out)
    assert lifter.lifted == 1
    (clash,) = (observation for observation in found if observation.kind == "clash")
    assert clash.spots[0].scope == "Biased.forward"


def test_what_a_module_keeps_deep_in_containers_stays_behind() -> None:
    found: list[Observation] = []
    machine = SimulatedMachine(2)
    lifter = Lifter(found.append, machine, machine.device(1))
    with lifter.active():
        Remembers()(X)
    (clash,) = (observation for observation in found if observation.kind == "clash")
    stray = next(operand for operand in clash.operands if operand.device == "cpu")
    assert stray.born is not None
    assert stray.born.scope == "Remembers.__init__"
