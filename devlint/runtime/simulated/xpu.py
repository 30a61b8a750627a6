"""The C layer of `torch.xpu`, answered in Python. What is not listed here raises `NotSimulatedName` with its name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from devlint.runtime.patching import Patches
from devlint.runtime.simulated.accelerator import MEMORY, device_functions, exchange, missing, nothing, without_cuda
from devlint.runtime.simulated.machine import Machine


def install(machine: Machine, patches: Patches) -> None:
    without_cuda(patches)
    xpu = torch.xpu
    own = {
        "getArchFlags": lambda: "pvc",
        "getMemoryInfo": lambda index: (MEMORY, MEMORY),
        "recordMemoryHistory": nothing,
    }
    for name, answer in {**device_functions(machine), **own}.items():
        patches.set(torch._C, f"_xpu_{name}", answer)
    patches.set(torch._C, "__getattr__", missing(("_xpu_",)))
    patches.set(torch._C, "_has_xpu", True)
    patches.set(xpu, "_exchange_device", lambda index: exchange(machine, index))
    patches.set(xpu, "_maybe_exchange_device", lambda index: exchange(machine, index))
    patches.set(xpu, "_is_in_bad_fork", lambda: machine.forked)
    patches.set(xpu, "_queued_calls", [])
    patches.set(xpu, "_initialized", False)
    patches.set(xpu, "device_count", machine.visible)
    patches.set(xpu, "get_device_properties", lambda device=None: _properties(machine, device))
    patches.set(xpu, "default_generators", machine.generators)
    patches.set(torch.version, "xpu", "20250302")


def _properties(machine: Machine, device: Any) -> SimpleNamespace:
    """What `torch.xpu.get_device_properties` answers: a device that says it is simulated."""
    place = machine.resolve("xpu" if device is None else device)
    return SimpleNamespace(
        name=f"devlint simulated device {place.index}",
        platform_name="devlint",
        vendor="devlint",
        driver_version="0",
        version="0",
        type="gpu",
        total_memory=MEMORY,
        max_compute_units=512,
        gpu_eu_count=512,
        max_work_group_size=1024,
        max_num_sub_groups=64,
        sub_group_sizes=[16, 32],
        has_fp16=True,
        has_fp64=True,
        has_atomic64=True,
        has_bfloat16_conversions=True,
        has_subgroup_matrix_multiply_accumulate=True,
        is_integrated_gpu=False,
    )
