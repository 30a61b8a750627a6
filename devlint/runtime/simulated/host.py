"""Where a tensor meets the host: numpy, pinned memory, type names, and protocols that hand memory over."""

from __future__ import annotations

from typing import Any

import torch

from devlint.runtime.labels import CPU, make_claims
from devlint.runtime.simulated.errors import NotSimulated, numpy_text, pin_text, type_name
from devlint.runtime.simulated.legacy import dtype_and_place
from devlint.runtime.simulated.machine import Machine
from devlint.runtime.simulated.transfers import Request, copied_to, move

Tensor = torch.Tensor
_IN_DLPACK = {"cuda": 2, "mps": 8, "xpu": 14}
"""kDLCUDA, kDLMetal and kDLOneAPI of dlpack.h."""


def numpy(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    device = machine.device_of(args[0])
    if device.type == machine.type and not kwargs.get("force", False):
        raise TypeError(numpy_text(device))
    return func(*args, **kwargs)


def get_device(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> int:
    device = machine.device_of(args[0])
    return int(device.index) if device.type == machine.type else int(func(*args, **kwargs))


def type_(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """`t.type()` names the type, `t.type("torch.cuda.FloatTensor")` is a transfer."""
    asked = args[1] if len(args) > 1 else kwargs.get("dtype")
    place = machine.device_of(args[0])
    if asked is None:
        return type_name(args[0], place)
    if isinstance(asked, torch.dtype):
        return func(*args, **kwargs)
    dtype, named = dtype_and_place(machine, asked)
    if dtype is None:
        return func(*args, **kwargs)
    return move(machine, args[0], Request(named, dtype, False, None))


def pin_memory(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    place = machine.device_of(tensor)
    if place.type != "cpu":
        raise RuntimeError(pin_text(tensor, place))
    if is_pinned(machine, func, args, kwargs):
        return tensor
    pinned = copied_to(tensor, CPU)
    for claim in make_claims(pinned):
        claim.pinned = True
    return pinned


def is_pinned(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> bool:
    return machine.is_pinned(args[0])


def connectionist(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """`torch.ctc_loss` reads lengths on the host, wherever they are (LossCTC.cpp); under a mode it would not."""
    args = tuple(v.tolist() if i in (2, 3) and isinstance(v, Tensor) else v for i, v in enumerate(args))
    lengths = ("input_lengths", "target_lengths")
    return func(*args, **{k: v.tolist() if k in lengths and isinstance(v, Tensor) else v for k, v in kwargs.items()})


def dlpack_device(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    device = machine.device_of(args[0])
    return (_IN_DLPACK[device.type], device.index) if device.type == machine.type else func(*args, **kwargs)


def hands_memory_over(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Another library would take the pointer for one of the accelerator."""
    if machine.device_of(args[0]).type == machine.type:
        raise NotSimulated(f"handing a {machine.kind.title} tensor's memory to another library")
    return func(*args, **kwargs)
