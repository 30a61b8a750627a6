"""The C functions behind `nn.DataParallel`: scatter, gather and broadcast between simulated devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from devlint.runtime.patching import Patches
from devlint.runtime.simulated.errors import NotSimulated
from devlint.runtime.simulated.machine import Machine
from devlint.runtime.simulated.transfers import copied_to

Tensor = torch.Tensor


def install(machine: Machine, patches: Patches) -> None:
    def place(index: Any) -> torch.device:
        return torch.device("cpu") if index in (-1, None) else machine.resolve(index)

    def scatter(
        tensor: Tensor, devices: Sequence[int], chunk_sizes: Any, dim: int, streams: Any = None
    ) -> list[Tensor]:
        cut: Any = tensor
        parts = cut.split(list(chunk_sizes), dim) if chunk_sizes else cut.chunk(len(devices), dim)
        return [copied_to(part, place(index)) for part, index in zip(parts, devices, strict=False)]

    def gather(tensors: Sequence[Tensor], dim: int, destination: int | None) -> Tensor:
        where = place(destination)
        return torch.cat([copied_to(t, where) for t in tensors], dim)

    def broadcast(tensor: Tensor, devices: Sequence[int]) -> list[Tensor]:
        return [_on(machine, tensor, place(index)) for index in devices]

    def broadcast_coalesced(tensors: Sequence[Tensor], devices: Sequence[int], size: int = 0) -> list[list[Tensor]]:
        return [[_on(machine, tensor, place(index)) for tensor in tensors] for index in devices]

    for name, function in (
        ("_scatter", scatter),
        ("_gather", gather),
        ("_broadcast", broadcast),
        ("_broadcast_coalesced", broadcast_coalesced),
    ):
        patches.set(torch._C, name, function)
    if torch.distributed.is_available():
        _refuse_nccl(patches)
        _reduce_beside_the_parameters(machine, patches)
    _refuse_spawning(patches)


def _refuse_nccl(patches: Patches) -> None:
    true_init: Any = torch.distributed.init_process_group

    def init_process_group(backend: str | None = None, *args: Any, **kwargs: Any) -> Any:
        if "nccl" in str(backend).lower():
            raise NotSimulated("the nccl backend of torch.distributed")
        return true_init(backend, *args, **kwargs)

    for owner in (torch.distributed, torch.distributed.distributed_c10d):
        patches.set(owner, "init_process_group", init_process_group)


def _reduce_beside_the_parameters(machine: Machine, patches: Patches) -> None:
    """`DistributedDataParallel` keeps gradients in buckets that C++ makes where the parameters are."""
    parallel = torch.nn.parallel.DistributedDataParallel

    def beside(true: Any) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            before, machine.local.call = machine.local.call, tuple(self.module.parameters())
            try:
                return true(self, *args, **kwargs)
            finally:
                machine.local.call = before

        return call

    for name in ("_ddp_init_helper", "_pre_forward"):
        if name in vars(parallel):
            patches.set(parallel, name, beside(vars(parallel)[name]))


def _refuse_spawning(patches: Patches) -> None:
    """A spawned process starts afresh, outside of the simulation; it would say that there is no CUDA."""
    true_start: Any = vars(torch.multiprocessing)["start_processes"]

    def start_processes(
        fn: Any, args: Any = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
        start_method: str = "spawn", **options: Any,
    ) -> Any:  # fmt: skip
        if start_method == "spawn":
            raise NotSimulated("torch.multiprocessing.spawn")
        return true_start(fn, args, nprocs, join, daemon, start_method, **options)

    patches.set(torch.multiprocessing, "start_processes", start_processes)
    patches.set(torch.multiprocessing, "spawn", start_processes)


def _on(machine: Machine, tensor: Tensor, place: torch.device) -> Tensor:
    return tensor if machine.device_of(tensor) == place else copied_to(tensor, place)
