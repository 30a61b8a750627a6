"""Attributes of tensors and storages that name a device, answered by the claim.

They are replaced on the Python classes rather than asked of the function mode: so they hold in every thread and
inside torch's own Python code too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from devlint.runtime.labels import claim_of, true_device
from devlint.runtime.patching import Patches
from devlint.runtime.simulated.machine import Machine

Tensor = torch.Tensor


def install(machine: Machine, patches: Patches) -> None:
    def device(self: Tensor) -> torch.device:
        claim = claim_of(self)
        if claim is not None and claim.device is not None and not machine.local.bare:
            # A new object each time, as PyTorch makes it: `x.device is y.device` never holds.
            return torch._C.device(claim.device)
        return true_device(self)

    def is_cuda(self: Tensor) -> bool:
        return machine.device_of(self).type == machine.type

    def is_cpu(self: Tensor) -> bool:
        return machine.device_of(self).type == "cpu"

    for answer in (device, is_cuda, is_cpu):
        patches.set(Tensor, answer.__name__, property(answer))
    patches.set(torch.overrides, "has_torch_function", _has_override)
    # Its argument is checked in C++ before any mode is asked; memory is not reused behind a stream's back here.
    patches.set(Tensor, "record_stream", lambda self, stream: None)


def _has_override(args: Iterable[Any]) -> bool:
    """`torch.overrides.has_torch_function` without the modes: fast paths ask it whether they may be taken."""
    plain = (Tensor.__torch_function__, torch._C._disabled_torch_function_impl)
    found = (getattr(type(arg), "__torch_function__", None) for arg in args)
    return any(override is not None and override not in plain for override in found)
