"""Calls lifted with copies, as on a real accelerator. It is played by a simulated one that says it is real."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from devlint.runtime.lifting.calls import Lifter
from devlint.runtime.observation import Observation
from devlint.runtime.simulated import SimulatedMachine


class SaysItIsReal(SimulatedMachine):
    simulated = False


class Run:
    def __init__(self) -> None:
        self.found: list[Observation] = []
        machine = SaysItIsReal(2)
        self.lifter = Lifter(self.found.append, machine, machine.device(0))

    def __call__(self, step: Callable[[], Any]) -> Any:
        with self.lifter.active():
            result = step()
        assert not self.lifter.not_lifted
        return result


@pytest.fixture
def lifted() -> Run:
    return Run()


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(4, 5, batch_first=True)
        self.norm = nn.BatchNorm1d(5)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.rnn(x)[0].mean(1))


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.into = nn.Linear(4, 4)
        self.out = nn.Linear(4, 4)
        self.out.weight = self.into.weight
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        assert x.device.type == "cuda"
        assert self.out.weight is self.into.weight
        return self.drop(self.out(self.into(x)))


@pytest.mark.parametrize(("build", "shape"), [(Recurrent, (3, 6, 4)), (Tied, (3, 4))])
def test_values_gradients_and_buffers_are_those_of_the_cpu(
    build: Callable[[], nn.Module], shape: tuple[int, ...], lifted: Run
) -> None:
    net = build()
    twin = copy.deepcopy(net)
    x = torch.rand(shape, requires_grad=True)

    def step(model: nn.Module) -> list[Tensor]:
        x.grad = None
        torch.manual_seed(1)
        out = model(x) if model is net else _plain(model, x)
        out.square().sum().backward()
        assert x.grad is not None
        return [out, x.grad, *(p.grad for p in model.parameters() if p.grad is not None), *model.buffers()]

    ours = [t.clone() for t in lifted(lambda: step(net))]
    theirs = step(twin)
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(ours, theirs, strict=True))
    assert {t.device.type for t in ours} == {"cpu"}
    assert all(isinstance(p, nn.Parameter) for p in net.parameters())
    assert lifted.lifter.lifted == 1
    assert lifted.found == []


def _plain(model: nn.Module, x: Tensor) -> Tensor:
    if isinstance(model, Tied):
        return model.drop(model.out(model.into(x)))
    out: Tensor = model(x)
    return out


@dataclass
class Batch:
    x: Tensor
    more: dict[str, Tensor]


class Accumulates(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Tensor] = []
        self.total: Tensor | None = None

    def forward(self, batch: Batch, pair: tuple[Tensor, list[Tensor]]) -> dict[str, Any]:
        assert batch.x.device == pair[1][0].device == torch.device("cuda:0")
        batch.x += 1
        batch.more["sum"] = batch.x.sum()
        self.seen.append(batch.x.mean())
        self.total = self.seen[-1] if self.total is None else self.total + self.seen[-1]
        return {"x": batch.x, "list": [pair[0] * 2], "total": self.total}


def test_what_the_call_changes_and_leaves_behind_comes_back(lifted: Run) -> None:
    net = Accumulates()
    x = torch.zeros(3)
    batch, pair = Batch(x, {}), (torch.ones(2), [torch.ones(1)])
    first = lifted(lambda: net(batch, pair))
    assert batch.x is x
    assert first["x"] is x
    assert x.tolist() == [1, 1, 1]
    second = lifted(lambda: net(batch, pair))
    assert second["total"].item() == 3
    left = [batch.more["sum"], *net.seen, net.total, *first["list"], pair[0], pair[1][0]]
    assert {t.device.type for t in left if t is not None} == {"cpu"}
    assert lifted.found == []


class Shifts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.shift = torch.ones(4)

    def forward(self, x: Tensor) -> Tensor:
        return self.lin(x) + self.shift + torch.zeros(4)


def test_what_stays_behind_is_found(lifted: Run) -> None:
    out = lifted(lambda: Shifts()(torch.rand(2, 4)))
    assert out.device.type == "cpu"
    clashes = [o for o in lifted.found if o.kind == "clash"]
    assert [o.operands[0].name for o in clashes] == ["self.shift", "other"]


class Fails(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.lin(x)


def test_an_exception_of_the_program_is_its_own_and_everything_is_back() -> None:
    run = Run()
    net = Fails()
    with run.lifter.active(), pytest.raises(RuntimeError, match="shapes"):
        net(torch.rand(2, 5))
    assert all(isinstance(p, nn.Parameter) and p.device.type == "cpu" for p in net.parameters())
    assert (run.lifter.lifted, run.found) == (0, [])
