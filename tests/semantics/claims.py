"""Devices that tensors and generators claim while they really live on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from devlint.semantics import Dim, DType, Elements, Operand


class Claims:
    """The claimed devices of one row's tensors and generators."""

    def __init__(self) -> None:
        self._by_storage: dict[int, str] = {}
        self._generators: dict[int, str] = {}
        self._alive: list[Any] = []

    def put(self, value: Any, device: str | None) -> Any:
        """Claim a device for everything in a fresh result that has none yet."""
        for tensor in tensors_in(value):
            if device is not None and (key := _key(tensor)) not in self._by_storage:
                self._alive.append(tensor)
                self._by_storage[key] = device
        return value

    def generator(self, device: str) -> torch.Generator:
        made = torch.Generator()
        self._alive.append(made)
        self._generators[id(made)] = device
        return made

    def of(self, value: torch.Tensor | torch.Generator) -> str:
        if isinstance(value, torch.Generator):
            return self._generators[id(value)]
        return self._by_storage.get(_key(value), "cpu")


def _key(tensor: torch.Tensor) -> int:
    """What names a tensor's memory; a sparse tensor has several storages and goes by itself."""
    return tensor.untyped_storage()._cdata if tensor.layout is torch.strided else id(tensor)


def operand(role: str, tensor: torch.Tensor, device: str) -> Operand[str]:
    """A tensor as the judge sees it."""
    return Operand(role, device, _dim(tensor), _elements(tensor), _dtype(tensor))


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)


def _dim(tensor: torch.Tensor) -> Dim:
    return Dim.NONZERO if tensor.dim() else Dim.ZERO


def _elements(tensor: torch.Tensor) -> Elements:
    return Elements.ONE if tensor.numel() == 1 else Elements.MANY


def _dtype(tensor: torch.Tensor) -> DType:
    if tensor.dtype is torch.bool:
        return DType.BOOL
    return DType.OTHER if tensor.is_floating_point() or tensor.is_complex() else DType.INT
