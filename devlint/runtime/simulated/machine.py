"""The simulated machine: N CUDA devices that are labels on CPU storages, with real values."""

from __future__ import annotations

import threading
from typing import Any

import torch

from devlint.runtime.labels import CPU, claim_of, true_device
from devlint.runtime.simulated.errors import invalid_ordinal

Tensor = torch.Tensor


class _Local(threading.local):
    """What CUDA keeps by thread: the current device. ``call``: the operands of the torch call being run."""

    current = 0
    call: tuple[Any, ...] | None = None


class Machine:
    """The devices and what they remember. One simulation runs at a time (`devlint.runtime.simulated.simulate`)."""

    type = "cuda"

    def __init__(self, count: int = 2) -> None:
        if not 1 <= count <= 16:
            raise ValueError(f"a simulated machine has 1 to 16 devices, not {count}")
        self.count = count
        self.devices = tuple(torch.device(self.type, index) for index in range(count))
        self.local = _Local()
        self.default_type_device = CPU

    @property
    def current(self) -> torch.device:
        return self.devices[self.local.current]

    def device(self, index: int) -> torch.device:
        """One device by index; raises CUDA's error for an index that is not there."""
        if not 0 <= index < self.count:
            raise invalid_ordinal()
        return self.devices[index]

    def resolve(self, device: Any) -> torch.device:
        """The device a string, integer or `torch.device` means here; the same object for the same device.

        What is no CUDA device is left to PyTorch.
        """
        if isinstance(device, int) and not isinstance(device, bool):
            if device < 0:
                raise RuntimeError("Device index must not be negative")
            return self.device(device)
        made = device if isinstance(device, torch._C.device) else torch._C.device(device)
        if made.type == "cpu":
            return CPU
        if made.type != self.type:
            return made
        return self.current if made.index is None else self.device(made.index)

    def device_of(self, value: Any) -> torch.device:
        """Where a tensor or a generator claims to be."""
        if not isinstance(value, Tensor):
            claimed: torch.device = value.device
            return claimed
        claim = claim_of(value)
        if claim is not None and claim.device is not None:
            return claim.device
        return true_device(value)
