"""Accelerators that are not there: CPU tensors with real values which claim a device and fail as on it.

    with simulate(count=2):
        net = Net().cuda()          # claims cuda:0
        net(torch.zeros(3))         # raises what CUDA would raise

Inside, `torch.cuda` answers as if N devices were there. Everything is put back on leaving, also after an exception.
What is not simulated raises `NotSimulated` with its name.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch

from devlint.runtime import graph_hooks, threads
from devlint.runtime.bodies import forget_bodies
from devlint.runtime.judging import Meeting
from devlint.runtime.labels import forget_devices
from devlint.runtime.observation import Judged
from devlint.runtime.patching import Patches
from devlint.runtime.simulated import (
    attributes,
    autograd,
    compiled,
    cuda,
    generators,
    grouping,
    legacy,
    parallel,
    storages,
    streams,
)
from devlint.runtime.simulated.dispatch import JudgingMode
from devlint.runtime.simulated.errors import NotSimulated
from devlint.runtime.simulated.functions import ClaimingMode
from devlint.runtime.simulated.machine import Machine
from devlint.runtime.simulated.transfers import Request, move

__all__ = ["Machine", "NotSimulated", "SimulatedMachine", "simulate"]

_running = threading.Lock()


@contextmanager
def simulate(count: int = 2, machine: Machine | None = None) -> Iterator[Machine]:
    """Run the body on a simulated machine with `count` CUDA devices. Errors are raised, nothing is recorded.

    Raises RuntimeError when a simulation is running already: there is one process-wide `torch.cuda` to answer for.
    """
    if not _running.acquire(blocking=False):
        raise RuntimeError("a simulated machine is running already; simulations do not nest")
    machine = machine or Machine(count)
    machine.reset()
    patches = Patches()
    patches.call(forget_bodies)
    try:
        for part in (attributes, storages, generators, legacy, streams, cuda, grouping, parallel, autograd, compiled):
            part.install(machine, patches)
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
