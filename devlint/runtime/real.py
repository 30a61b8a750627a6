"""A real accelerator, or the CPU itself: the machine answers what PyTorch answers, and the device has its own word.

Written against `torch.accelerator` (torch 2.6 and newer), so CUDA, XPU and MPS differ only in their name. The judge is
asked about every meeting of different devices, and the operation is run as well: where the two disagree, the
observation says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch

from devlint.runtime import compiled, generators
from devlint.runtime.judging import Meeting
from devlint.runtime.labels import CPU, true_device
from devlint.runtime.observation import Judged
from devlint.runtime.patching import Patches


class Accelerator(Protocol):
    """The part of `torch.accelerator` that is used."""

    def current_accelerator(self, check_available: bool = False) -> torch.device | None: ...

    def current_device_index(self) -> int: ...

    def device_count(self) -> int: ...


class NoDevice(RuntimeError):
    """The device asked for is not in this machine."""


class RealMachine:
    """`RealMachine("cuda")`. Raises NoDevice when this process has no such device.

    The device "cpu" runs a program as it is, which is what the placement "CPU only" needs.
    """

    simulated = False

    def __init__(self, device: torch.device | str, accelerator: Accelerator | None = None) -> None:
        self._accelerator: Any = accelerator or torch.accelerator
        self._asked = torch.device(device)
        self.type = self._asked.type
        self.count = 1
        if self.type != "cpu":
            self._find()

    def _find(self) -> None:
        found = self._accelerator.current_accelerator(check_available=True)
        if found is None:
            raise NoDevice(f"no accelerator is available to this process, {self._asked} was asked for")
        if found.type != self.type:
            raise NoDevice(f"the accelerator of this machine is {found.type}, {self._asked} was asked for")
        self.count = self._accelerator.device_count()
        if (self._asked.index or 0) >= self.count:
            raise NoDevice(f"{self._asked} was asked for, the last device of this machine is {self._last}")

    @property
    def _last(self) -> str:
        return f"{self.type}:{self.count - 1}"

    @contextmanager
    def running(self) -> Iterator[None]:
        patches = Patches()
        try:
            compiled.install(patches)
            generators.follow(patches)
            yield
        finally:
            patches.restore()

    def resolve(self, device: Any) -> torch.device:
        """The device with its index; an integer is an index of the accelerator."""
        named: torch.device = torch.device(self.type, device) if isinstance(device, int) else torch.device(device)
        if named.type == "cpu":
            return CPU
        current = self.type != "cpu" and str(named) == self.type
        return torch.device(self.type, self._accelerator.current_device_index()) if current else named

    def device_of(self, value: Any) -> torch.device:
        if isinstance(value, torch.Tensor):
            return true_device(value)
        device: torch.device = value.device
        return device

    def is_pinned(self, tensor: torch.Tensor) -> bool:
        return tensor.is_pinned()

    def move(self, tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
        return tensor.to(device)

    def verdict(self, meeting: Meeting, refused: bool) -> Judged:
        """Both where judge and device say the same; an operation neither refuses is never asked about."""
        return "both" if refused == (meeting.clash is not None) else "disagree"
