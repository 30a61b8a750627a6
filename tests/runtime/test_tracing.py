"""Stand-ins for tensors: the proxies of torch.fx, and subclasses that answer by themselves."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
import torch
import torch.fx
import torch.nn.functional as F
from torch import Tensor, nn

from devlint.runtime.observation import Observation
from devlint.runtime.session import Session, observe
from devlint.runtime.simulated import SimulatedMachine, simulate


class Products(nn.Module):
    def forward(self, a: Tensor, b: Tensor, c: Tensor) -> Any:
        product = torch.einsum("i,j,ij->ij", a, b, c)
        pair = torch.functional.meshgrid(a, b, indexing="ij")
        norms = torch.norm(product) + torch.cdist(a[:, None], b[:, None]).sum() + F.max_pool1d(a[None, None], 2).sum()
        return torch.tensordot(product, c, dims=2) + pair[0].sum() + norms + F.softmax(a, dim=0).sum()


class Factories(nn.Module):
    def forward(self, a: Tensor) -> Any:
        filled = torch.zeros_like(a) + torch.full_like(a, 2.0)
        return filled + a.new_ones(a.shape[0]) + torch.rand_like(a)


class Stray(nn.Module):
    def forward(self, a: Tensor) -> Any:
        return a + torch.ones(3)


def test_a_traced_program_is_the_one_that_is_traced_without_a_machine() -> None:
    for module in (Products(), Factories()):
        alone = torch.fx.symbolic_trace(module).code
        with simulate():
            assert torch.fx.symbolic_trace(module).code == alone


@pytest.mark.parametrize("module", [Products(), Factories()], ids=lambda module: type(module).__name__)
def test_a_traced_module_runs_on_its_device(module: nn.Module) -> None:
    with simulate():
        given = [torch.ones(3, device="cuda"), torch.ones(3, device="cuda"), torch.ones(3, 3, device="cuda")]
        given = given[: 1 if isinstance(module, Factories) else 3]
        traced = torch.fx.symbolic_trace(module)
        assert traced(*given).device == torch.device("cuda:0")


def test_a_clash_in_a_traced_module_is_seen_where_it_was_called() -> None:
    found: list[Observation] = []
    with observe(SimulatedMachine(), found.append, device="cuda:0") as session:
        run_traced(session)
    (clash,) = [o for o in found if o.kind == "clash"]
    assert (clash.spots[0].scope, clash.spots[0].path) == ("run_traced", __file__)


def run_traced(session: Session) -> None:
    torch.fx.symbolic_trace(Stray())(session.lift(torch.ones(3)))


class Logging(torch.Tensor):
    asked: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.asked.append(getattr(func, "__name__", str(func)))
        return super().__torch_function__(func, types, args, kwargs or {})


def test_a_subclass_is_asked_for_the_function_that_was_called() -> None:
    plain = torch.ones(3)
    with simulate():
        value = plain.cuda().as_subclass(Logging)
        Logging.asked.clear()
        results = [F.softmax(value, dim=0), torch.einsum("i,i->", value, value), F.gumbel_softmax(value)]
        assert {result.device for result in results} == {torch.device("cuda:0")}
    assert [name for name in Logging.asked if name in ("softmax", "einsum", "gumbel_softmax")] == [
        "softmax",
        "einsum",
        "gumbel_softmax",
    ]
