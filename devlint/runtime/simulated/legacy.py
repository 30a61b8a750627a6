"""Tensor types by name: `torch.cuda.FloatTensor` and its siblings, `set_default_tensor_type`."""

from __future__ import annotations

from typing import Any

import torch

from devlint.runtime.labels import CPU, device_of, set_device
from devlint.runtime.patching import Patches
from devlint.runtime.simulated.machine import Machine

Tensor = torch.Tensor

_DTYPES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "ShortTensor": torch.int16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "BoolTensor": torch.bool,
}


class _AcceleratorType(type):
    """`isinstance(x, torch.cuda.FloatTensor)` asks for dtype and device."""

    dtype: torch.dtype
    machine: Machine

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype and device_of(value).type == cls.machine.type

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        asked = kwargs.pop("device", None)
        place = cls.machine.current if asked is None else cls.machine.resolve(asked)
        wanted = cls.machine.type
        if place.type != wanted:
            raise RuntimeError(
                f"legacy constructor expects device type: {wanted} but device type: {place.type} was passed"
            )
        made: Tensor = getattr(torch, cls.__name__)(*args, **kwargs)
        set_device(made, place)
        return made


def install(machine: Machine, patches: Patches) -> None:
    module = getattr(torch, machine.type)
    for name, dtype in _DTYPES.items():
        stand_in = _AcceleratorType(name, (), {"__module__": module.__name__, "dtype": dtype, "machine": machine})
        patches.set(module, name, stand_in)
    true_default = torch.set_default_tensor_type

    def set_default_tensor_type(t: Any) -> None:
        dtype, place = dtype_and_place(machine, t)
        if dtype is None or place is None:
            true_default(t)
            return
        machine.default_type_device = place
        torch.set_default_dtype(dtype)

    patches.set(torch, "set_default_tensor_type", set_default_tensor_type)
    before = torch.get_default_dtype()
    patches.call(lambda: torch.set_default_dtype(before))


def dtype_and_place(machine: Machine, named: Any) -> tuple[torch.dtype | None, torch.device | None]:
    """What a type or its name ("torch.cuda.FloatTensor", torch.FloatTensor) asks for; (None, None) when unknown."""
    if isinstance(named, _AcceleratorType):
        return named.dtype, machine.current
    if not isinstance(named, str):
        named = f"{getattr(named, '__module__', '')}.{getattr(named, '__name__', '')}"
    module, _, name = named.rpartition(".")
    if name not in _DTYPES or module not in ("torch", f"torch.{machine.type}"):
        return None, None
    return _DTYPES[name], CPU if module == "torch" else machine.current
