"""The bodies of torch's own Python functions, run with a mode on."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode, handle_torch_function, has_torch_function_unary

from devlint.runtime.bodies import body_of


def _impl(x: torch.Tensor) -> Any:
    """As `torch.functional._unique_impl` before torch 2.13: what asks again calls the public function."""
    if has_torch_function_unary(x):
        return handle_torch_function(counted, (x,), x)
    return torch.unique(x), None, torch.ones(1)


def counted(x: torch.Tensor) -> Any:
    if has_torch_function_unary(x):
        return _impl(x)
    values, _, counts = _impl(x)
    return values, counts


class Bodies(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        body = body_of(func) if func is counted else None
        if body is None:
            return func(*args, **(kwargs or {}))
        with self:
            return body(*args, **(kwargs or {}))


def test_a_private_function_that_asks_the_same_again_does_not_come_back_to_the_public_one() -> None:
    with Bodies():
        values, counts = counted(torch.tensor([1, 1, 2]))
    assert values.tolist() == [1, 2]
    assert counts.tolist() == [1.0]
