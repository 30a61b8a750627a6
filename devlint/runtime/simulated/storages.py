"""Storages that claim a device: what saving, loading, copying and pickling of tensors go through."""

from __future__ import annotations

from typing import Any

import torch

from devlint.runtime.labels import claims, storage_claim
from devlint.runtime.patching import Patches
from devlint.runtime.simulated.errors import NotSimulated
from devlint.runtime.simulated.machine import Machine

_Base: Any = torch._C.StorageBase


def install(machine: Machine, patches: Patches) -> None:
    true_device: Any = _Base.device.__get__

    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        place = kwargs.get("device")
        place = None if place is None else machine.resolve(place)
        if place is None or place.type != machine.type:
            return _Base.__new__(cls, *args, **kwargs)
        made = _Base.__new__(cls, *args, **{k: v for k, v in kwargs.items() if k != "device"})
        storage_claim(made).device = place
        return made

    def device(self: Any) -> torch.device:
        claim = claims.get(self._cdata)
        if claim is not None and claim.device is not None:
            return claim.device
        found: torch.device = true_device(self)
        return found

    def is_cuda(self: Any) -> bool:
        return device(self).type == "cuda"

    def get_device(self: Any) -> int:
        place = device(self)
        return -1 if place.type == "cpu" else int(place.index)

    def share_cuda(self: Any, *args: Any) -> Any:
        raise NotSimulated(f"sharing a {machine.kind.title} tensor with another process")

    true_to_dlpack: Any = torch._C._to_dlpack

    def to_dlpack(tensor: torch.Tensor, **options: Any) -> Any:
        if machine.device_of(tensor).type == machine.type:
            raise NotSimulated(f"handing a {machine.kind.title} tensor's memory to another library")
        return true_to_dlpack(tensor, **options)

    patches.set(torch._C, "_to_dlpack", to_dlpack)
    patches.set(torch.utils.dlpack, "to_dlpack", to_dlpack)
    storage = torch.UntypedStorage
    patches.set(storage, "__new__", staticmethod(new))
    patches.set(storage, "device", property(device))
    patches.set(storage, "is_cuda", property(is_cuda))
    patches.set(storage, "get_device", get_device)
    patches.set(storage, "_share_cuda_", share_cuda)
