"""The C layer of `torch.cuda`, answered in Python.

PyTorch's own Python code above it runs unchanged: it only finds the functions that a CUDA build has. What is not
listed here raises `NotSimulated` with its name, and `hasattr` says no to it.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from devlint.runtime.patching import Patches
from devlint.runtime.simulated.accelerator import (
    MEMORY,
    device_functions,
    exchange,
    forget_true_count,
    missing,
    nothing,
    refused,
)
from devlint.runtime.simulated.errors import NotSimulated, NotSimulatedName
from devlint.runtime.simulated.machine import Machine

CAPABILITY = (9, 0)

_PREFIXES = ("_cuda_", "_nccl_")
_ACCELERATED = (*_PREFIXES, "_cudnn", "_CudaDevice", "_scatter", "_gather", "_broadcast")
"""How names begin that `torch._C` has in a build with CUDA alone."""
_Builtin = type(len)


def install(machine: Machine, patches: Patches) -> None:
    _replace_c_functions(machine, patches)
    cuda = torch.cuda
    patches.set(cuda, "_exchange_device", lambda index: exchange(machine, index))
    patches.set(cuda, "_maybe_exchange_device", lambda index: exchange(machine, index))
    patches.set(cuda, "_get_device_properties", lambda index: properties(machine, index))
    patches.set(cuda, "_is_in_bad_fork", lambda: machine.forked)
    patches.set(cuda, "_cudart", _Runtime())
    patches.set(cuda, "_queued_calls", [])
    patches.set(cuda, "_initialized", False)
    forget_true_count(patches)
    patches.set(cuda, "default_generators", machine.generators)
    patches.set(cuda.nvtx, "_nvtx", _Nvtx())
    patches.set(cuda.nccl, "is_available", lambda tensors: False)
    patches.set(torch.backends.cudnn, "is_acceptable", lambda tensor: False)
    for path in _LACKING:
        _refuse(patches, path)
    if torch.version.cuda is None:
        # Extensions that were built for CUDA compare it with theirs when they are imported.
        patches.set(torch.version, "cuda", "12.8")


def _replace_c_functions(machine: Machine, patches: Patches) -> None:
    """In a CUDA build the functions exist, and `torch.cuda`'s modules hold some under their own names."""
    answers = {**_refusals(), **_c_functions(machine)}
    imported = _modules_of_cuda(len(sys.modules))
    for name, answer in answers.items():
        true = vars(torch._C).get(name)
        for module in imported if true is not None else ():
            if vars(module).get(name) is true:
                patches.set(module, name, answer)
        patches.set(torch._C, name, answer)
    patches.set(torch._C, "__getattr__", missing(_ACCELERATED))


@lru_cache(maxsize=1)
def _refusals() -> dict[str, Any]:
    """For all that this build has of CUDA: a machine is made for every call that a test makes, and asks once."""
    names = [name for name in dir(torch._C) if name.startswith(_PREFIXES)]
    return {name: refused(name) for name in names if isinstance(vars(torch._C).get(name), _Builtin)}


@lru_cache(maxsize=1)
def _modules_of_cuda(imported: int) -> list[ModuleType]:
    """Looked for again when as many modules as these are imported now."""
    return [module for name, module in list(sys.modules.items()) if name.startswith("torch.cuda")]


def _c_functions(machine: Machine) -> dict[str, Any]:
    return {
        **{f"_cuda_{name}": answer for name, answer in device_functions(machine).items()},
        "_cuda_getArchFlags": lambda: "sm_80 sm_90",
        "_cuda_ipc_collect": nothing,
        "_cuda_sleep": nothing,
        "_host_emptyCache": nothing,
        "_cuda_hostMemoryStats": dict,
        "_cuda_getAllocatorBackend": lambda: "native",
        "_cuda_record_memory_history": nothing,
        "_cuda_record_memory_history_legacy": nothing,
        "_cuda_set_sync_debug_mode": nothing,
        "_cuda_get_sync_debug_mode": lambda: 0,
        "_cuda_getDefaultStream": lambda index: (0, machine.device(max(index, 0)).index, 1),
        "_cuda_get_cudnn_benchmark_limit": lambda: 10,
        "_cuda_set_cudnn_benchmark_limit": nothing,
    }


def properties(machine: Machine, index: int) -> SimpleNamespace:
    """What `torch.cuda.get_device_properties` answers: a device that says it is simulated."""
    return SimpleNamespace(
        name=f"devlint simulated device {index}",
        major=CAPABILITY[0],
        minor=CAPABILITY[1],
        total_memory=MEMORY,
        multi_processor_count=108,
        warp_size=32,
        max_threads_per_multi_processor=2048,
        max_threads_per_block=1024,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=166912,
        shared_memory_per_multiprocessor=167936,
        regs_per_multiprocessor=65536,
        L2_cache_size=40 * 2**20,
        is_integrated=0,
        is_multi_gpu_board=0,
        gcnArchName="",
        uuid=f"00000000-0000-0000-0000-{index:012d}",
    )


class _Runtime:
    """The few functions of `torch.cuda.cudart()` that Python code calls."""

    class cudaError:
        success = 0

    @staticmethod
    def cudaMemGetInfo(index: int) -> tuple[int, int]:
        return MEMORY, MEMORY

    @staticmethod
    def cudaGetErrorString(error: int) -> str:
        return "no error"

    @staticmethod
    def cudaProfilerStart() -> int:
        return 0

    cudaProfilerStop = cudaProfilerStart

    def __getattr__(self, name: str) -> Any:
        raise NotSimulatedName(f"torch.cuda.cudart().{name}")


_LACKING = (
    "cuda.CUDAGraph",
    "cuda.graphs.CUDAGraph",
    "cuda.ExternalStream",
    "cuda.streams.ExternalStream",
    "cuda.MemPool",
    "cuda.memory.MemPool",
    "cuda.memory.CUDAPluggableAllocator",
    "cuda._compile_kernel",
    "export.export",
    "export.draft_export",
    "onnx.export",
)
"""Classes and functions of torch that PyTorch's own Python code would begin to run before it fails."""


def _refuse(patches: Patches, path: str) -> None:
    *names, name = path.split(".")
    owner: Any = torch
    for part in names:
        owner = getattr(owner, part)
    true = getattr(owner, name, None)
    if true is None:
        return
    what = f"torch.cuda.{name}" if names[0] == "cuda" else f"torch.{path}"

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotSimulated(what)

    patches.set(owner, name, type(name, (), {"__new__": refuse}) if isinstance(true, type) else refuse)


class _Nvtx:
    """Ranges and marks for a profiler that is not there."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: 0
