"""Attributes of tensors and storages that name a device, answered by the claim.

They are replaced on the Python classes rather than asked of the function mode: so they hold in every thread and
inside torch's own Python code too.
"""

from __future__ import annotations

import torch

from devlint.runtime.bodies import overrides
from devlint.runtime.labels import claim_of, true_device
from devlint.runtime.patching import Patches
from devlint.runtime.simulated.kinds import KINDS
from devlint.runtime.simulated.machine import Machine

Tensor = torch.Tensor


def install(machine: Machine, patches: Patches) -> None:
    def device(self: Tensor) -> torch.device:
        claim = claim_of(self)
        if claim is not None and claim.device is not None and not machine.local.bare:
            # A new object each time, as PyTorch makes it: `x.device is y.device` never holds.
            return torch._C.device(claim.device)
        answer = true_device(self)
        if claim is not None and claim.trace is not None and machine.answered is not None:
            machine.answered(claim.trace, answer)
        return answer

    def is_of(kind: str) -> property:
        return property(lambda self: machine.device_of(self).type == kind)

    patches.set(Tensor, "device", property(device))
    for kind in ("cpu", *KINDS):
        patches.set(Tensor, f"is_{kind}", is_of(kind))
    patches.set(torch.overrides, "has_torch_function", overrides)
    # Its argument is checked in C++ before any mode is asked; memory is not reused behind a stream's back here.
    patches.set(Tensor, "record_stream", lambda self, stream: None)
