"""Grouping by device, which optimizers and gradient clipping leave to C++: by claim here."""

from __future__ import annotations

from typing import Any

import torch

from devlint.runtime.patching import Patches
from devlint.runtime.simulated.machine import Machine

Tensor = torch.Tensor


def install(machine: Machine, patches: Patches) -> None:
    def group(tensorlists: list[list[Tensor | None]], with_indices: bool = False) -> dict[Any, Any]:
        """`torch._C._group_tensors_by_device_and_dtype`: keys from the first list, the others along with it."""
        groups: dict[tuple[torch.device, torch.dtype], tuple[list[list[Tensor | None]], list[int]]] = {}
        for index, first in enumerate(tensorlists[0]):
            if first is None:
                raise RuntimeError("Tensors in the first list of a group must be defined")
            key = (machine.device_of(first), first.dtype)
            for others in tensorlists:
                _check(machine, others[index] if others else None, key)
            lists, indices = groups.setdefault(key, ([[] for _ in tensorlists], []))
            for held, others in zip(lists, tensorlists, strict=True):
                if others:
                    held.append(others[index])
            if with_indices:
                indices.append(index)
        return dict(groups)

    patches.set(torch._C, "_group_tensors_by_device_and_dtype", group)


def _check(machine: Machine, tensor: Tensor | None, key: tuple[torch.device, torch.dtype]) -> None:
    """Source: the check in torch/csrc/utils/foreach: a `step` may be a float on the CPU."""
    if tensor is None:
        return
    place = machine.device_of(tensor)
    is_step = tensor.dim() == 0 and place.type == "cpu" and tensor.dtype in (torch.float32, torch.float64)
    if not is_step and (place != key[0] or (tensor.dtype != key[1] and tensor.dim() != 0)):
        raise RuntimeError(
            "Tensors of the same index must be on the same device and the same dtype except `step` tensors that can "
            "be CPU and float32/64 notwithstanding"
        )
