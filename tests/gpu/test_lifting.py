"""Calls of CPU programs lifted to CUDA: values, gradients and buffers come back, and what stays behind is found."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from devlint.runtime.lifting.calls import Lifter
from devlint.runtime.observation import Observation
from devlint.runtime.real import RealMachine


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(4, 5, batch_first=True)
        self.norm = nn.BatchNorm1d(5)

    def forward(self, x: Tensor) -> Tensor:
        assert x.is_cuda
        return self.norm(self.rnn(x)[0].mean(1))


class Shifts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.shift = torch.ones(4)

    def forward(self, x: Tensor) -> Tensor:
        return self.lin(x) + self.shift


def lifter(found: list[Observation]) -> Lifter:
    return Lifter(found.append, RealMachine("cuda:0"), torch.device("cuda:0"))


def test_a_training_step_gives_the_values_of_the_cpu() -> None:
    found: list[Observation] = []
    net, x = Net(), torch.rand(3, 6, 4, requires_grad=True)
    twin, y = copy.deepcopy(net), x.detach().clone().requires_grad_()
    lifting = lifter(found)
    with torch.backends.cudnn.flags(allow_tf32=False):
        with lifting.active():
            out = net(x)
        out.square().sum().backward()
    plain = twin.norm(twin.rnn(y)[0].mean(1))
    plain.square().sum().backward()
    pairs = [(out, plain), (x.grad, y.grad), *zip(net.buffers(), twin.buffers(), strict=True)]
    pairs += [(a.grad, b.grad) for a, b in zip(net.parameters(), twin.parameters(), strict=True)]
    for ours, theirs in pairs:
        assert ours is not None
        assert theirs is not None
        assert ours.device.type == "cpu"
        assert torch.allclose(ours, theirs, atol=1e-3)
    assert (lifting.lifted, found) == (1, [])


def test_what_stays_behind_is_found() -> None:
    found: list[Observation] = []
    with lifter(found).active():
        Shifts()(torch.rand(2, 4))
    assert [o.operands[0].name for o in found if o.kind == "clash"] == ["self.shift"]
    assert {o.judged for o in found if o.kind == "clash"} == {"both"}
