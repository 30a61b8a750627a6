"""What goes to the device with a lifted call: gradients of buffers do, what modules of Python keep does not."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from devlint.runtime.lifting.calls import Lifter
from devlint.runtime.observation import Observation
from devlint.runtime.simulated import SimulatedMachine


def clashes(net: nn.Module, *inputs: Any, times: int = 1) -> list[str]:
    found: list[Observation] = []
    lifter = Lifter(found.append, SimulatedMachine(2), torch.device("cuda:0"))
    with lifter.active():
        for _ in range(times):
            net(*inputs)
    assert lifter.lifted == times
    return [each.operation for each in found if each.kind == "clash"]


class Accumulating(nn.Module):
    """Keeps its sums where an optimizer would look for them."""

    seen: Tensor

    def __init__(self, beside: str) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))
        self.kept: Tensor | None = None
        self.beside = beside

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            step = torch.ones(3, device=self.beside or x.device)
            if self.seen.grad is None:
                self.seen.grad = step
            else:
                self.seen.grad.add_(x.sum(0))
        return x + self.seen


def test_the_gradient_of_a_buffer_is_where_the_buffer_is() -> None:
    assert clashes(Accumulating(""), torch.ones(2, 3), times=3) == []


def test_a_gradient_of_a_buffer_that_is_made_elsewhere_is_still_refused() -> None:
    found: list[Observation] = []
    lifter = Lifter(found.append, SimulatedMachine(2), torch.device("cuda:0"))
    with lifter.active():
        Accumulating("cpu")(torch.ones(2, 3))
    assert [each.kind for each in found] == ["clash"]


class Reading(nn.Module):
    """Takes a table from what it is handed."""

    def forward(self, x: Tensor, holder: Any) -> Tensor:
        return x * holder.settings.table


def settings() -> ModuleType:
    made = ModuleType("settings")
    vars(made)["table"] = torch.ones(3)
    return made


def test_what_a_module_of_python_keeps_stays_where_it_is() -> None:
    assert clashes(Reading(), torch.ones(2, 3), SimpleNamespace(settings=settings())) == ["aten.mul.Tensor"]


def test_what_an_object_keeps_goes_along() -> None:
    holder = SimpleNamespace(settings=SimpleNamespace(table=torch.ones(3)))
    assert clashes(Reading(), torch.ones(2, 3), holder) == []


def test_an_object_that_remembers_torch_is_looked_into_and_torch_is_not(recwarn: pytest.WarningsRecorder) -> None:
    holder = SimpleNamespace(settings=SimpleNamespace(table=torch.ones(3), torch=torch, distributed=torch.distributed))
    assert clashes(Reading(), torch.ones(2, 3), holder) == []
    assert [str(each.message) for each in recwarn if "reduce_op" in str(each.message)] == []


class Degree(tuple[int, Tensor]):
    """An irreducible representation has no length, though it is a pair."""

    __slots__ = ()

    def __len__(self) -> int:
        raise NotImplementedError


class Rows(list[Tensor]):
    def __iter__(self) -> Any:
        raise RuntimeError("ask for rows one by one")


class Row(dict[str, Tensor]):
    def values(self) -> Any:
        raise RuntimeError("ask for them by name")


class Closed:
    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("nobody looks in here")


class Asking(nn.Module):
    def __init__(self, *kept: Any) -> None:
        super().__init__()
        self.kept = kept
        self.of = [*kept]

    def forward(self, x: Tensor, table: Any) -> Tensor:
        rows: Tensor = table["rows"] if isinstance(table, dict) else table[1]
        return x * rows


@pytest.mark.parametrize(
    "table",
    [Degree((0, torch.ones(3))), Rows([torch.ones(3)] * 2), Row(rows=torch.ones(3))],
    ids=["pair", "list", "dict"],
)
def test_what_containers_with_a_mind_of_their_own_hold_goes_along(table: Any) -> None:
    assert clashes(Asking(table, Closed()), torch.ones(2, 3), table) == []
