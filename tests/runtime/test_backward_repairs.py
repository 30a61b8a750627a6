"""What a repair leaves for the backward pass: gradients come back where their tensors are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from devlint.runtime.labels import device_of
from devlint.runtime.observation import Observation
from devlint.runtime.session import observe
from devlint.runtime.simulated import SimulatedMachine

WRITES: dict[str, Callable[[Tensor, Tensor, Tensor], object]] = {
    "by a mask": lambda target, mask, values: target.__setitem__(mask, values),
    "by a method": lambda target, mask, values: target.index_put_((mask,), values),
    "by numbers": lambda target, mask, values: target.__setitem__(mask.nonzero()[:, 0], values),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_was_written_into_a_tensor_of_the_host_gets_its_gradient_there(
    write: Callable[[Tensor, Tensor, Tensor], object],
) -> None:
    found: list[Observation] = []
    places: list[str] = []
    with observe(SimulatedMachine(), found.append, device="cuda:0"):
        x = torch.arange(1.0, 5.0, device="cuda", requires_grad=True)
        mask = x > 2
        target = torch.zeros(x.shape)
        write(target, mask, x[mask])
        assert target.grad_fn is not None
        target.grad_fn.register_hook(lambda given, _: places.extend(str(device_of(g)) for g in given if g is not None))
        (x * 3 + target).sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [3.0, 3.0, 4.0, 4.0]
    # PyTorch compares with where the values were when they were written, and raises "returned an invalid gradient".
    assert set(places) == {"cpu"}
    assert {each.kind for each in found} <= {"clash", "index", "brought-over", "strayed"}
    assert not [each for each in found if each.judged == "disagree"]
