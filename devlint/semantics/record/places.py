"""The names a row's code may use: makers of tensors on one device each, `torch` and `F`.

`c` is the first accelerator, `c1` the second, `h` the host, `m` a device of Apple's. Every maker's values are fixed,
so a row means the same on every machine and in every run. All tensors are made on the host and then moved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

Put = Callable[[torch.Tensor], torch.Tensor]
"""Brings a tensor of the host to a place."""


class Place:
    """Makers of tensors on one device; without a shape they make a 0-dim tensor."""

    def __init__(self, put: Put) -> None:
        self._put = put

    def __call__(self, *shape: int) -> torch.Tensor:
        """Ones."""
        return self._put(torch.ones(shape))

    def x(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Floats between 0 and 1 in which neighbours differ."""
        count = torch.arange(torch.Size(shape).numel())
        return self._put(((count * 5 % 7 + 1) / 8).to(dtype).reshape(shape))

    def i(self, below: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        """Integers 0, 1, 2 ... that begin again at `below`."""
        return self._put((torch.arange(torch.Size(shape).numel()) % below).to(dtype).reshape(shape))

    def b(self, *shape: int) -> torch.Tensor:
        """A mask: True, False, True ..."""
        return self._put((torch.arange(torch.Size(shape).numel()) % 2 == 0).reshape(shape))

    def z(self, *shape: int) -> torch.Tensor:
        """Complex numbers."""
        count = torch.arange(torch.Size(shape).numel())
        return self._put(torch.complex((count * 5 % 7 + 1) / 8, (count * 3 % 5) / 8).reshape(shape))

    def t(self, values: Any, dtype: torch.dtype | None = None, shape: tuple[int, ...] | None = None) -> torch.Tensor:
        """The values themselves."""
        made = torch.tensor(values, dtype=dtype)
        return self._put(made if shape is None else made.reshape(shape))


def names(puts: Mapping[str, Put], generator: Callable[[str], torch.Generator]) -> dict[str, Any]:
    """What a row's code may name, with a way to each place in `puts` (keys: c, c1, h, m).

    `ci`, `hi`, ... are int64 zeros, `cb` masks of True, `cg` generators (made by `generator`, which is given the key).
    """
    found: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    for key, put in puts.items():
        found[key] = Place(put)
        found[f"{key}i"] = _filled(put, 0, torch.int64)
        found[f"{key}b"] = _filled(put, 1, torch.bool)
        found[f"{key}g"] = lambda key=key: generator(key)
    return found


def _filled(put: Put, value: int, dtype: torch.dtype) -> Callable[..., torch.Tensor]:
    return lambda *shape: put(torch.full(shape, value, dtype=dtype))


def real_names(device: str, count: int) -> dict[str, Any]:
    """The names on real devices: `device` is "cuda", "meta" or "cpu" (a dry run, in which every place is the host)."""

    def to(target: str) -> Put:
        return lambda tensor: tensor.to(target)

    targets = {"c": f"{device}:0" if device == "cuda" else device, "h": "cpu"}
    if count > 1 or device == "cpu":
        targets["c1"] = f"{device}:1" if device == "cuda" else device
    return names({key: to(t) for key, t in targets.items()}, lambda key: torch.Generator(targets[key]))
