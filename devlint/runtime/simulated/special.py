"""The torch functions that need an answer of their own on a simulated machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from devlint.runtime.labels import CPU, set_device
from devlint.runtime.simulated import checks, host
from devlint.runtime.simulated.machine import Machine
from devlint.runtime.simulated.transfers import Request, move, read_to

Tensor = torch.Tensor
_grad: Any = Tensor.grad
Handler = Callable[[Machine, Any, Any, dict[str, Any]], Any]


def _to(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    return move(machine, args[0], read_to(machine, args[1:], dict(kwargs)))


def _accelerator(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """`Tensor.cuda` and `Tensor.xpu`; that of another kind than the machine's is left to PyTorch, which refuses."""
    if func is not getattr(Tensor, machine.type, None):
        return func(*args, **kwargs)
    device = args[1] if len(args) > 1 else kwargs.get("device")
    place = machine.resolve(machine.type if device is None else device)
    if place.type != machine.type:
        raise RuntimeError(f"Invalid device, must be {machine.type} device")
    return move(machine, args[0], Request(place, None, False, kwargs.get("memory_format")))


def _cpu(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    return move(machine, args[0], Request(CPU, None, False, kwargs.get("memory_format")))


def _type_as(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    other = args[1] if len(args) > 1 else kwargs["other"]
    return move(machine, args[0], Request(machine.device_of(other), other.dtype, False, None))


def _device(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """`torch.device(1)` is an index of the accelerator."""
    if len(args) == 1 and type(args[0]) is int and args[0] >= 0:
        return func(machine.type, args[0])
    return func(*args, **kwargs)


def _new(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """`x.new(...)`: a tensor where `x` is; of a tensor given, its view as it is."""
    place = machine.device_of(args[0])
    made = func(*args, **{k: v for k, v in kwargs.items() if k != "device"})
    if machine.device_of(made) != place:
        set_device(made, place)
    return made


def _pad_packed(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Lengths are counted on the host, whatever the sequences are on."""
    before, machine.local.call = machine.local.call, args
    try:
        padded, lengths = func(*args, **kwargs)
    finally:
        machine.local.call = before
    set_device(lengths, CPU)
    return padded, lengths


@cache
def special_functions() -> dict[Any, Handler]:
    """Every function with a handler, as torch's overrides name it."""
    recurrent = ("lstm", "gru", "rnn_tanh", "rnn_relu")
    return {
        torch.device: _device,
        Tensor.to: _to,
        Tensor.cuda: _accelerator,
        Tensor.xpu: _accelerator,
        Tensor.cpu: _cpu,
        Tensor.type_as: _type_as,
        Tensor.type: host.type_,
        Tensor.numpy: host.numpy,
        Tensor.new: _new,
        torch._pad_packed_sequence: _pad_packed,
        Tensor.get_device: host.get_device,
        torch.get_device: host.get_device,
        Tensor.pin_memory: host.pin_memory,
        Tensor.is_pinned: host.is_pinned,
        Tensor.__dlpack_device__: host.dlpack_device,
        Tensor.__dlpack__: host.hands_memory_over,
        Tensor.__cuda_array_interface__.__get__: host.hands_memory_over,
        torch.ctc_loss: host.connectionist,
        Tensor.copy_: checks.copy_,
        Tensor.__setitem__: checks.setitem,
        _grad.__set__: checks.set_grad,
        **{getattr(torch, name): checks.recurrent for name in recurrent},
    }
