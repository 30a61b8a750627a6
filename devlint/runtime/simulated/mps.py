"""The C layer of `torch.mps` and `torch.backends.mps`, answered in Python. Every build of PyTorch has its names."""

from __future__ import annotations

from typing import Any

import torch

from devlint.runtime.patching import Patches
from devlint.runtime.simulated.accelerator import MEMORY, nothing, refused, without_cuda
from devlint.runtime.simulated.machine import Machine


def install(machine: Machine, patches: Patches) -> None:
    without_cuda(patches)
    for name in [name for name in dir(torch._C) if name.startswith("_mps_")]:
        patches.set(torch._C, name, refused(name))
    for name, answer in _c_functions(machine).items():
        patches.set(torch._C, name, answer)
    patches.set(torch._C, "_has_mps", True)
    patches.set(torch.mps, "_is_in_bad_fork", lambda: machine.forked)
    patches.set(torch.mps, "_default_mps_generator", machine.generators[0])
    # Their answers are kept for as long as the process lives.
    backend = torch.backends.mps
    patches.set(backend, "is_available", lambda: True)
    patches.set(backend, "is_macos_or_newer", lambda major, minor: True)
    patches.set(backend, "is_macos13_or_newer", lambda minor=0: True)


def _c_functions(machine: Machine) -> dict[str, Any]:
    return {
        "_mps_is_available": lambda: True,
        "_mps_is_in_bad_fork": lambda: machine.forked,
        "_mps_is_on_macos_or_newer": lambda major, minor: True,
        "_mps_get_default_generator": lambda: machine.generators[0],
        "_mps_get_name": lambda: "devlint simulated device 0",
        "_mps_get_core_count": lambda: 40,
        "_mps_deviceSynchronize": nothing,
        "_mps_emptyCache": nothing,
        "_mps_setMemoryFraction": nothing,
        "_mps_currentAllocatedMemory": lambda: 0,
        "_mps_driverAllocatedMemory": lambda: 0,
        "_mps_recommendedMaxMemory": lambda: MEMORY,
        "_mps_maxBufferLength": lambda: MEMORY,
        "_mps_profilerStartTrace": nothing,
        "_mps_profilerStopTrace": nothing,
    }
