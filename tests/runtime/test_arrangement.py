"""Calls whose parts are not all on the accelerator: what a user never moved, left on the CPU, or keeps elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from devlint.runtime.lifting.arrangement import NotArranged, arranged
from devlint.runtime.lifting.calls import Lifter
from devlint.runtime.lifting.targets import targets_of
from devlint.runtime.observation import Observation
from devlint.runtime.simulated import SimulatedMachine

CPU = torch.device("cpu")
X = torch.rand(4, 3)


def observed(call: Callable[[], Any], *placements: str, stay: str = "") -> list[Observation]:
    found: list[Observation] = []
    machine = SimulatedMachine(2)
    lifter = Lifter(found.append, machine, machine.device(1), arrangement=arranged([*placements], [stay]))
    with lifter.active(targets_of([f"{__name__}.*"])):
        call()
    assert not lifter.not_lifted
    assert lifter.lifted
    return [observation for observation in found if observation.kind not in ("host-sync", "brought-over")]


class Metric:
    """Accumulates on a device of its own: the CPU unless it is told another."""

    def __init__(self, device: torch.device = CPU) -> None:
        self._device = device
        self.reset()

    def reset(self) -> None:
        self.total = torch.zeros(3, device=self._device)


class Sum(Metric):
    def update(self, output: tuple[Tensor, Tensor]) -> None:
        self.total += output[0].sum(0)


class SumThatBrings(Metric):
    def update(self, output: tuple[Tensor, Tensor]) -> None:
        self.total += output[0].sum(0).to(self._device)


class SumAfterReset(SumThatBrings):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.ones(3)

    def update(self, output: tuple[Tensor, Tensor]) -> None:
        self.reset()
        self.total = self.total * self.weight
        super().update(output)


class Weighted(nn.Module):
    """An objective: its weights come as numbers, the line that it compares with as the data it has."""

    def __init__(self, weights: list[float], line: Tensor) -> None:
        super().__init__()
        self.register_buffer("weights", torch.tensor(weights))
        self.register_buffer("line", line)

    def forward(self, y: Tensor) -> Tensor:
        return ((y - self.line) * self.weights).sum(-1)


class WeightedThere(Weighted):
    def forward(self, y: Tensor) -> Tensor:
        return ((y - self.line) * self.weights.to(y)).sum(-1)


class Plate:
    def __init__(self, size: int) -> None:
        self.indices = torch.randperm(size)[:2]

    def select(self, value: Tensor) -> Tensor:
        return value.index_select(0, self.indices)


class PlateThatBrings(Plate):
    def select(self, value: Tensor) -> Tensor:
        return value.index_select(0, self.indices.to(value.device))


def updated(cls: type[Any]) -> Callable[[], Any]:
    def call() -> None:
        metric = cls()
        metric.update((X, X))
        metric.update((X, X))
        assert {tensor.device for tensor in vars(metric).values() if isinstance(tensor, Tensor)} == {CPU}

    return call


UNMOVED = f"{__name__}.Metric {__name__}.Weighted {__name__}.Plate"
WRONG = {
    "metric": updated(Sum),
    "module": lambda: Weighted([1.0, 2.0, 3.0], torch.zeros(3))(X),
    "index": lambda: Plate(4).select(X),
}
RIGHT = {
    "metric": updated(SumThatBrings),
    "metric of many calls": updated(SumAfterReset),
    "module": lambda: WeightedThere([1.0, 2.0, 3.0], torch.zeros(3))(X),
    "index": lambda: PlateThatBrings(4).select(X),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_object_that_nobody_moves_meets_what_it_is_given(name: str) -> None:
    (clash, *_) = observed(WRONG[name], stay=UNMOVED)
    assert clash.kind in ("clash", "index")
    (stray,) = (operand for operand in clash.operands if operand.device == "cpu")
    assert stray.born is not None
    assert stray.born.scope.endswith(("__init__", "reset"))
    assert observed(WRONG[name]) == []


@pytest.mark.parametrize("name", RIGHT)
def test_an_object_that_brings_what_it_is_given_meets_nothing(name: str) -> None:
    assert observed(RIGHT[name], stay=UNMOVED) == []


def ablated(inputs: Tensor, mask: Tensor, baseline: Tensor) -> Tensor:
    return inputs * (1 - mask) + baseline * mask


def ablated_there(inputs: Tensor, mask: Tensor | None = None) -> Tensor:
    return inputs if mask is None else inputs * mask.to(inputs.device)


@pytest.mark.parametrize("stay", ["(mask)", f"{__name__}.ablated(mask)"])
def test_an_argument_that_a_user_left_on_the_cpu(stay: str) -> None:
    mask = torch.ones(4, 3)
    clashes = observed(lambda: ablated(X, baseline=X, mask=mask), stay=stay)
    strays = [operand for clash in clashes for operand in clash.operands if operand.device == "cpu"]
    assert "mask" in {operand.name for operand in strays}
    assert {operand.born.scope if operand.born else "" for operand in strays} == {"ablated"}
    assert observed(lambda: (ablated_there(X, mask), ablated_there(X)), stay=f"(mask) {stay}") == []
    assert observed(lambda: ablated(X, mask, X), stay="other(mask)") == []


class Rows(Dataset[Tensor]):
    def __init__(self) -> None:
        self.rows = torch.rand(6, 3)

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> Tensor:
        return self.rows[index]


def histogram(loader: DataLoader[Any]) -> Tensor:
    total = torch.zeros(3)
    for rows in loader:
        total += rows.sum(0) if isinstance(rows, Tensor) else rows[0].sum(0)
    return total


def histogram_there(loader: DataLoader[Any]) -> Tensor:
    total = torch.zeros(3)
    for rows in loader:
        batch = rows if isinstance(rows, Tensor) else rows[0]
        total = total.to(batch.device) + batch.sum(0)
    return total


@pytest.mark.parametrize("data", [Rows(), TensorDataset(X)])
def test_data_on_the_accelerator(data: Any) -> None:
    loader = DataLoader(data, batch_size=2)
    (clash, *_) = observed(lambda: histogram(loader), "data")
    assert clash.kind == "clash"
    assert observed(lambda: histogram(loader)) == []
    assert observed(lambda: histogram_there(loader), "data") == []


def smallest(x: Tensor) -> float:
    return float(torch.empty((), dtype=x.dtype).numpy().dtype.itemsize)


def smallest_of_the_host(x: Tensor) -> float:
    return float(torch.empty((), dtype=x.dtype, device="cpu").numpy().dtype.itemsize)


def shifted(x: Tensor) -> Tensor:
    return x + torch.zeros(3)


def drawn(x: Tensor) -> Tensor:
    return x[torch.randperm(len(x), generator=torch.Generator().manual_seed(0))]


def test_the_accelerator_as_the_default_device() -> None:
    assert [o.kind for o in observed(lambda: smallest(X), "default")] == ["host-only"]
    assert [o.kind for o in observed(lambda: drawn(X), "default")] == ["generator"]
    assert observed(lambda: (smallest_of_the_host(X), shifted(X)), "default") == []
    assert observed(lambda: (smallest(X), drawn(X))) == []
    assert torch.get_default_device() == CPU


def triplets(labels: Tensor) -> tuple[Tensor, Tensor]:
    host = labels.cpu().numpy()
    return torch.LongTensor([i for i, _ in enumerate(host)]), torch.tensor([1, 2])


def neighbours(x: Tensor) -> Tensor:
    found = torch.empty(len(x), dtype=torch.int64)
    for i, row in enumerate(x):
        found[i].copy_(row.argmax())
    return found


def rate(x: Tensor) -> tuple[Tensor, Tensor]:
    return x * 2, torch.as_tensor(sum([0.1, 0.2]))


class Miner(nn.Module):
    def forward(self, labels: Tensor) -> list[Tensor]:
        return [*triplets(labels), labels.cpu()]


def test_results_of_a_module() -> None:
    miner = Miner()
    assert [o.kind for o in observed(lambda: miner(X), "results")] == ["strayed"] * 2
    assert observed(lambda: miner(X)) == []


def rate_there(x: Tensor) -> tuple[Tensor, Tensor]:
    return x * 2, torch.as_tensor(sum([0.1, 0.2]), device=x.device)


def brought(x: Tensor) -> Tensor:
    return x.mean(0).cpu() * 2


def named(x: Tensor) -> Tensor:
    return torch.zeros(len(x), device="cpu") + 1


def number_of_rows(x: Tensor) -> int:
    return len(torch.arange(len(x)))


HERE = sys.modules[__name__]


@pytest.mark.parametrize(("name", "number"), [("triplets", 2), ("neighbours", 1), ("rate", 1)])
def test_all_results_are_expected_where_the_input_is(name: str, number: int) -> None:
    found = observed(lambda: getattr(HERE, name)(X), "results")
    assert [(o.kind, o.detail) for o in found] == [("strayed", "output")] * number
    assert observed(lambda: getattr(HERE, name)(X)) == []


@pytest.mark.parametrize("name", ["rate_there", "brought", "named", "number_of_rows"])
def test_results_that_were_sent_to_the_host_are_wanted_there(name: str) -> None:
    assert observed(lambda: getattr(HERE, name)(X), "results") == []


@pytest.mark.parametrize("stay", ["nowhere.Metric", "torch.zeros", "Metric"])
def test_a_name_that_leads_nowhere(stay: str) -> None:
    with pytest.raises(NotArranged, match=stay.rpartition(".")[2]):
        arranged([], [stay])
