"""Accelerators that are not there: CPU tensors with real values which claim a device and fail as on it.

    with simulate(count=2):
        net = Net().cuda()          # claims cuda:0
        net(torch.zeros(3))         # raises what CUDA would raise

Inside, `torch.cuda` answers as if N devices were there; `torch.xpu` or `torch.mps` does where the machine is of that
kind, and `torch.cuda` then refuses as on every machine without CUDA. Everything is put back on leaving, also after an
exception. What is not simulated raises `NotSimulated` with its name.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch

from devlint.runtime import compiled, graph_hooks, threads
from devlint.runtime.bodies import forget_bodies
from devlint.runtime.judging import Meeting
from devlint.runtime.labels import forget_devices
from devlint.runtime.observation import Judged
from devlint.runtime.patching import Patches
from devlint.runtime.simulated import (
    accelerator,
    attributes,
    autograd,
    cuda,
    generators,
    grouping,
    legacy,
    mps,
    parallel,
    storages,
    streams,
    xpu,
)
from devlint.runtime.simulated.dispatch import JudgingMode
from devlint.runtime.simulated.errors import NotSimulated
from devlint.runtime.simulated.functions import ClaimingMode
from devlint.runtime.simulated.kinds import CUDA, KINDS, MPS, XPU, Kind
from devlint.runtime.simulated.machine import Machine
from devlint.runtime.simulated.transfers import Request, move

__all__ = ["CUDA", "KINDS", "MPS", "XPU", "Kind", "Machine", "NotSimulated", "SimulatedMachine", "simulate"]

_running = threading.Lock()

_SHARED = (
    attributes,
    storages,
    generators,
    legacy,
    streams,
    accelerator,
    grouping,
    parallel,
    autograd,
)
_OF_A_KIND = {"cuda": cuda, "xpu": xpu, "mps": mps}
"""The layer below `torch.cuda` and its like. What a program asks of another kind, PyTorch refuses by itself."""


@contextmanager
def simulate(count: int = 2, machine: Machine | None = None, kind: Kind = CUDA) -> Iterator[Machine]:
    """Run the body on a simulated machine with `count` devices. Errors are raised, nothing is recorded.

    Raises RuntimeError when a simulation is running already: there is one process-wide `torch.cuda` to answer for,
    and ValueError for more devices than the kind can have.
    """
    machine = machine or Machine(count, kind)
    if not _running.acquire(blocking=False):
        raise RuntimeError("a simulated machine is running already; simulations do not nest")
    machine.reset()
    patches = Patches()
    patches.call(forget_bodies)
    try:
        for part in (*_SHARED, _OF_A_KIND[machine.type]):
            part.install(machine, patches)
        compiled.install(patches)
        forget_bodies()
        threads.follow(patches, lambda: _modes(machine))
        graph_hooks.follow(patches, ClaimingMode, lambda: ClaimingMode(machine))
        with _modes(machine):
            yield machine
    finally:
        patches.restore()
        forget_devices()
        _running.release()


@contextmanager
def _modes(machine: Machine) -> Iterator[None]:
    """What one thread needs."""
    with ClaimingMode(machine), JudgingMode(machine):
        yield


class SimulatedMachine(Machine):
    """A simulated machine as `devlint.runtime.session.observe` takes it."""

    simulated = True

    def running(self) -> AbstractContextManager[Any]:
        return simulate(machine=self)

    def move(self, tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
        return move(self, tensor, Request(device, None, False, None))

    def verdict(self, meeting: Meeting, refused: bool) -> Judged:
        return "judge"
