"""What outlives a simulation: graphs that go backward when the machine is gone, or when another one runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from devlint.runtime.labels import claims
from devlint.runtime.lifting.calls import Lifter
from devlint.runtime.observation import Observation
from devlint.runtime.simulated import SimulatedMachine, simulate


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0] * 2


def applied(x: Tensor) -> Any:
    return Doubled.apply(x)  # type: ignore[no-untyped-call]


def moved_and_back(x: Tensor) -> Any:
    return x.cpu().mul(2).to(x.device)


def beside_a_scalar_of_the_host(x: Tensor) -> Any:
    return x * SCALE.abs() + SCALE


SCALE = nn.Parameter(torch.tensor(2.0))
SHAPES = [applied, moved_and_back, beside_a_scalar_of_the_host]


class Net(nn.Module):
    def __init__(self, shape: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.shape = shape

    def forward(self, x: Tensor) -> Any:
        return self.shape(self.lin(x))


def gradients(net: Net) -> list[Tensor]:
    return [p.grad.clone() for p in (*net.parameters(), SCALE) if p.grad is not None]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_lifted_call_goes_backward_when_it_has_ended(shape: Callable[[Tensor], Any]) -> None:
    found: list[Observation] = []
    lifter = Lifter(found.append, SimulatedMachine(2), torch.device("cuda:0"))
    net, x = Net(shape), torch.ones(2, 3, requires_grad=True)
    net(x).sum().backward()
    expected = gradients(net)
    for _ in range(2):
        net.zero_grad()
        SCALE.grad = None
        with lifter.active():
            loss = net(x).sum()
        loss.backward()
        assert all(torch.equal(a, b) for a, b in zip(gradients(net), expected, strict=True))
        assert [claim.device for claim in claims.values() if claim.device is not None] == []
    assert (lifter.lifted, [o.kind for o in found if o.kind == "clash"]) == (2, [])
    SCALE.grad = None


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_graph_of_one_machine_goes_backward_on_another(shape: Callable[[Tensor], Any]) -> None:
    net, x = Net(shape), torch.ones(2, 3)
    with simulate():
        loss = shape(net.lin.to("cuda")(x.cuda())).sum()
    with simulate():
        loss.backward()
    assert net.lin.weight.grad is not None
    SCALE.grad = None


def test_a_gradient_on_the_wrong_side_is_refused_again_by_the_next_machine() -> None:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return torch.ones(3)

    for _ in range(2):
        with simulate():
            x = torch.ones(3, device="cuda", requires_grad=True)
            with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cuda:0 but got cpu"):
                Wrong.apply(x).sum().backward()  # type: ignore[no-untyped-call]


def test_a_scalar_of_the_host_has_its_gradient_there_on_every_machine() -> None:
    scale = nn.Parameter(torch.tensor(2.0))
    for _ in range(2):
        with simulate():
            (torch.ones(3, device="cuda") * scale).sum().backward()
            assert scale.grad is not None
            assert scale.grad.device.type == "cpu"
            scale.grad = None
