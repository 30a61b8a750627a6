"""The C layer of `torch.xpu`, answered in Python. What is not listed here raises `NotSimulatedName` with its name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from devlint.runtime.patching import Patches
from devlint.runtime.simulated import streams
from devlint.runtime.simulated.accelerator import MEMORY, exchange, memory_stats, nothing
from devlint.runtime.simulated.errors import NotSimulatedName
from devlint.runtime.simulated.machine import Machine

_STREAM_TYPE = 12
"""c10::DeviceType::XPU, which goes with the id of a stream."""


def install(machine: Machine, patches: Patches) -> None:
    xpu = torch.xpu
    for name, answer in _c_functions(machine).items():
        patches.set(torch._C, name, answer)
    patches.set(torch._C, "__getattr__", _missing)
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


def _c_functions(machine: Machine) -> dict[str, Any]:
    def stream_data(index: int) -> tuple[int, int, int]:
        stream = streams.current(machine, machine.local.current if index < 0 else index)
        return stream.stream_id, stream.device.index, _STREAM_TYPE

    def set_stream(stream_id: int, device_index: int, device_type: int) -> None:
        machine.local.streams[device_index] = machine.stream_class(machine.device(device_index), stream_id=stream_id)

    return {
        "_xpu_init": machine.initialise,
        "_xpu_getDeviceCount": machine.visible,
        "_xpu_getDevice": lambda: machine.local.current,
        "_xpu_setDevice": lambda index: exchange(machine, index),
        "_xpu_exchangeDevice": lambda index: exchange(machine, index),
        "_xpu_maybeExchangeDevice": lambda index: exchange(machine, index),
        "_xpu_isInBadFork": lambda: machine.forked,
        "_xpu_canDeviceAccessPeer": lambda a, b: a != b,
        "_xpu_getArchFlags": lambda: "pvc",
        "_xpu_synchronize": nothing,
        "_xpu_emptyCache": nothing,
        "_xpu_memoryStats": lambda index: memory_stats(),
        "_xpu_resetAccumulatedMemoryStats": nothing,
        "_xpu_resetPeakMemoryStats": nothing,
        "_xpu_setMemoryFraction": nothing,
        "_xpu_getMemoryFraction": lambda index: 1.0,
        "_xpu_getMemoryInfo": lambda index: (MEMORY, MEMORY),
        "_xpu_recordMemoryHistory": nothing,
        "_xpu_memorySnapshot": lambda *args: {"segments": [], "device_traces": [], "allocator_settings": {}},
        "_xpu_isCurrentStreamCapturing": lambda: False,
        "_xpu_getCurrentRawStream": lambda index: 0,
        "_xpu_getCurrentStream": stream_data,
        "_xpu_setStream": set_stream,
    }


def _missing(name: str) -> Any:
    if name.startswith("_xpu_"):
        raise NotSimulatedName(f"torch._C.{name}")
    raise AttributeError(f"module 'torch._C' has no attribute '{name}'")


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
