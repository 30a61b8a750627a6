"""The torch functions that need an answer of their own on a simulated machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from devlint.runtime.labels import CPU
from devlint.runtime.simulated.machine import Machine
from devlint.runtime.simulated.transfers import Request, move, read_to

Tensor = torch.Tensor
Handler = Callable[[Machine, Any, Any, dict[str, Any]], Any]


def _to(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    return move(machine, args[0], read_to(machine, args[1:], dict(kwargs)))


def _cuda(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    device = args[1] if len(args) > 1 else kwargs.get("device")
    place = machine.resolve("cuda" if device is None else device)
    if place.type != machine.type:
        raise RuntimeError(f"Invalid device, must be {machine.type} device")
    return move(machine, args[0], Request(place, None, False, kwargs.get("memory_format")))


def _cpu(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    return move(machine, args[0], Request(CPU, None, False, kwargs.get("memory_format")))


def _type_as(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    other = args[1] if len(args) > 1 else kwargs["other"]
    return move(machine, args[0], Request(machine.device_of(other), other.dtype, False, None))


def _numpy(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    device = machine.device_of(args[0])
    if device.type == machine.type:
        raise TypeError(
            f"can't convert {device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory "
            "first."
        )
    return func(*args, **kwargs)


def _get_device(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> int:
    device = machine.device_of(args[0])
    return -1 if device.type == "cpu" else device.index


@cache
def special_functions() -> dict[Any, Handler]:
    """Every function with a handler, as torch's overrides name it."""
    return {
        Tensor.to: _to,
        Tensor.cuda: _cuda,
        Tensor.cpu: _cpu,
        Tensor.type_as: _type_as,
        Tensor.numpy: _numpy,
        Tensor.get_device: _get_device,
    }
