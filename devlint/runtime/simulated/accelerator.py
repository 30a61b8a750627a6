"""The C layer of `torch.accelerator`, answered in Python: the same for every kind of accelerator.

What the layers of `torch.cuda`, `torch.xpu` and `torch.mps` have in common is here as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from devlint.runtime.patching import Patches
from devlint.runtime.simulated import streams
from devlint.runtime.simulated.errors import NotSimulatedName
from devlint.runtime.simulated.machine import Machine

MEMORY = 80 * 2**30
"""Bytes of memory a simulated device says it has, all of them free."""


def install(machine: Machine, patches: Patches) -> None:
    def get_stream(index: int | None = None) -> Any:
        return streams.current(machine, machine.local.current if index is None else index)

    def set_stream(stream: Any) -> None:
        machine.local.streams[stream.device.index] = stream
        machine.local.current = stream.device.index

    answers = {
        "_accelerator_getAccelerator": lambda: torch._C.device(machine.type),
        "_accelerator_getDeviceIndex": lambda: machine.local.current,
        "_accelerator_setDeviceIndex": lambda index: exchange(machine, index),
        "_accelerator_exchangeDevice": lambda index: exchange(machine, index),
        "_accelerator_maybeExchangeDevice": lambda index: exchange(machine, index),
        "_accelerator_synchronizeDevice": nothing,
        "_accelerator_getStream": get_stream,
        "_accelerator_setStream": set_stream,
        "_accelerator_emptyCache": nothing,
        "_accelerator_emptyHostCache": nothing,
        "_accelerator_isAllocatorInitialized": lambda: True,
        "_accelerator_getDeviceStats": lambda index: {},
        "_accelerator_getMemoryInfo": lambda index: (MEMORY, MEMORY),
        "_accelerator_resetAccumulatedStats": nothing,
        "_accelerator_resetPeakStats": nothing,
        "_accelerator_hooks_device_count": lambda: machine.count,
        "_accelerator_hooks_get_current_device": lambda: machine.local.current,
        "_get_accelerator": lambda *args: torch._C.device(machine.type),
    }
    for name, answer in answers.items():
        patches.set(torch._C, name, answer)


def device_functions(machine: Machine) -> dict[str, Any]:
    """What the C layers of `torch.cuda` and `torch.xpu` have in common, by names without their prefix."""

    def get_stream(index: int) -> tuple[int, int, int]:
        stream = streams.current(machine, machine.local.current if index < 0 else index)
        return stream.stream_id, stream.device.index, machine.kind.number

    def set_stream(stream_id: int, device_index: int, device_type: int) -> None:
        machine.local.streams[device_index] = machine.stream_class(machine.device(device_index), stream_id=stream_id)

    return {
        "init": machine.initialise,
        "getDeviceCount": machine.visible,
        "getDevice": lambda: machine.local.current,
        "setDevice": lambda index: exchange(machine, index),
        "exchangeDevice": lambda index: exchange(machine, index),
        "maybeExchangeDevice": lambda index: exchange(machine, index),
        "isInBadFork": lambda: machine.forked,
        "canDeviceAccessPeer": lambda a, b: a != b,
        "synchronize": nothing,
        "emptyCache": nothing,
        "memoryStats": lambda index: memory_stats(),
        "resetAccumulatedMemoryStats": nothing,
        "resetPeakMemoryStats": nothing,
        "setMemoryFraction": nothing,
        "getMemoryFraction": lambda index: 1.0,
        "memorySnapshot": lambda *args: {"segments": [], "device_traces": [], "allocator_settings": {}},
        "isCurrentStreamCapturing": lambda: False,
        "getCurrentStream": get_stream,
        "getCurrentRawStream": lambda index: 0,
        "setStream": set_stream,
    }


def refused(name: str) -> Any:
    """Stands for a function of `torch._C` that nothing answers for."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotSimulatedName(f"torch._C.{name}")

    return refuse


def missing(prefixes: tuple[str, ...]) -> Callable[[str], Any]:
    """`torch._C.__getattr__`: what a build with the accelerator has under these names is not simulated."""

    def get(name: str) -> Any:
        if name.startswith(prefixes):
            raise NotSimulatedName(f"torch._C.{name}")
        raise AttributeError(f"module 'torch._C' has no attribute '{name}'")

    return get


def nothing(*args: Any, **kwargs: Any) -> None:
    """What there is nothing to do for where the host does the work."""


def exchange(machine: Machine, index: int) -> int:
    """Make a device current and name the one before; a negative index changes nothing."""
    if index < 0:
        return -1
    machine.initialise()
    before = machine.local.current
    machine.local.current = machine.device(index).index
    return before


def memory_stats() -> dict[str, Any]:
    """What the caching allocator counts, all of it nothing: memory is the host's."""
    counted = ("current", "peak", "allocated", "freed")
    blocks = ("allocation", "segment", "active", "inactive_split")
    kinds = (*blocks, *(f"{name}_bytes" for name in ("allocated", "reserved", "active", "inactive_split", "requested")))
    single = ("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free")
    return {
        **{kind: {pool: dict.fromkeys(counted, 0) for pool in ("all", "small_pool", "large_pool")} for kind in kinds},
        **{kind: dict.fromkeys(counted, 0) for kind in ("oversize_allocations", "oversize_segments")},
        **dict.fromkeys((*single, "max_split_size"), 0),
    }


def without_cuda(patches: Patches) -> None:
    """No CUDA device beside a simulated one of another kind, whatever this machine has."""
    if hasattr(torch._C, "_cuda_getDeviceCount"):
        patches.set(torch._C, "_cuda_getDeviceCount", lambda: 0)
    forget_true_count(patches)


def forget_true_count(patches: Patches) -> None:
    """Have `torch.cuda` count by its C layer alone: neither by this machine's driver nor as it did before."""
    patches.set(torch.cuda, "_device_count_nvml", lambda: -1)
    patches.set(torch.cuda, "_cached_device_count", None)
