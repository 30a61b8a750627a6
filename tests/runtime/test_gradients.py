"""Gradients that a program hands to a backward pass, each beside the tensor that it belongs to or not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from devlint.runtime.observation import Observation
from devlint.runtime.session import observe
from devlint.runtime.simulated import SimulatedMachine

Step = Callable[[Tensor, Tensor], object]

ON_THE_HOST: dict[str, Step] = {
    "by position": lambda x, w: (x * w).backward(torch.ones(x.shape)),
    "by name": lambda x, w: (x * w).backward(gradient=torch.ones(3)),
    "of several": lambda x, w: torch.autograd.backward([x * w, (x * w).sum()], [torch.ones(3), torch.tensor(1.0)]),
    "of several by name": lambda x, w: torch.autograd.backward(tensors=[x * w], grad_tensors=[torch.ones(3)]),
    "of grad": lambda x, w: torch.autograd.grad(x * w, x, torch.ones(3)),
    "of grad by name": lambda x, w: torch.autograd.grad([x * w], [x], grad_outputs=[torch.ones(3)]),
}
BESIDE: dict[str, Step] = {
    "none": lambda x, w: (x * w).sum().backward(),
    "like its tensor": lambda x, w: (x * w).backward(torch.ones_like(x)),
    "one of None": lambda x, w: torch.autograd.grad([(x * w).sum()], [x], grad_outputs=[None]),
    "0-dim, which PyTorch moves": lambda x, w: (x * w).sum().backward(torch.tensor(2.0)),
    "on the host, of the host": lambda x, w: (torch.ones(3, requires_grad=True) * 2).backward(torch.ones(3)),
}


def observed(step: Step, repair: bool = True) -> tuple[list[Observation], Tensor]:
    found: list[Observation] = []
    with observe(SimulatedMachine(), found.append, device="cuda:0", repair=repair):
        x = torch.ones(3, device="cuda", requires_grad=True)
        step(x, torch.full((3,), 5.0, device="cuda"))
    return [each for each in found if each.kind != "brought-over"], x


@pytest.mark.parametrize("step", ON_THE_HOST.values(), ids=ON_THE_HOST)
def test_a_gradient_on_the_host_is_told_once_with_its_tensor_and_brought_over(step: Step) -> None:
    (clash,), x = observed(step)
    assert (clash.kind, clash.operation) == ("clash", "backward")
    assert clash.message == "invalid gradient at index 0 - expected device cuda:0 but got cpu"
    assert [(operand.name, operand.device) for operand in clash.operands] == [("gradient", "cpu"), ("output", "cuda:0")]
    assert all(operand.born for operand in clash.operands)
    assert x.grad is None or x.grad[0] % 5 == 0


@pytest.mark.parametrize("step", BESIDE.values(), ids=BESIDE)
def test_what_pytorch_takes_is_silent(step: Step) -> None:
    assert observed(step)[0] == []


def test_what_pytorch_refuses_it_refuses_still() -> None:
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        observed(lambda x, w: torch.autograd.backward([x * w, x * 2], [torch.ones_like(x)]))


def test_without_repair_it_is_pytorch_s_error() -> None:
    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cuda:0 but got cpu"):
        observed(ON_THE_HOST["by position"], repair=False)
