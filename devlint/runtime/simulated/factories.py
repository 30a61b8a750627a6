"""Calls that make a tensor: where `device=`, the device context or the tables say it goes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch._C import _len_torch_function_stack
from torch.utils._device import DeviceContext

from devlint.runtime.labels import CPU, address_of, make_claims, set_device
from devlint.runtime.simulated.errors import generator_text
from devlint.runtime.simulated.kinds import check_dtype
from devlint.runtime.simulated.machine import Machine
from devlint.runtime.simulated.transfers import copied_to
from devlint.semantics import Factory, function, method, tables

Tensor = torch.Tensor


def context_device(machine: Machine) -> torch.device | None:
    """The device of the innermost `with torch.device(d)`, or of `set_default_device`, on this thread."""
    if _len_torch_function_stack():
        bottom = torch._C._get_function_stack_at(0)
        if isinstance(bottom, DeviceContext):
            return machine.resolve(bottom.device)
    return None


@cache
def known_factories() -> dict[Any, Factory]:
    """The functions torch's overrides can see, with what the tables say of them."""
    found: dict[Any, Factory] = {}
    for table in ("factories", "factories_by_hand"):
        for name in tables.rows(table):
            if not name.startswith(("torch.", "Tensor.")) or "(" in name:
                continue
            said = method(name.removeprefix("Tensor.")) if name.startswith("Tensor.") else function(name)
            called = _find(name)
            if isinstance(said, Factory) and callable(called) and not isinstance(called, type):
                found[called] = said
    return found


def _find(name: str) -> Any:
    owner: Any = torch.Tensor if name.startswith("Tensor.") else torch
    for part in name.split(".")[1:]:
        owner = getattr(owner, part, None)
    return owner


def make(machine: Machine, factory: Factory, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Run a factory on the CPU and let the result claim the place it was asked for."""
    asked = kwargs.get("device")
    if factory.legacy:
        return func(*args, **kwargs)
    data = args[0] if args else kwargs.get("data", kwargs.get("input"))
    place = machine.resolve(asked) if asked is not None else _default(machine, factory, data)
    if place is not None and place.type not in ("cpu", machine.type):
        return func(*args, **{**kwargs, "device": place})
    _check_generator(kwargs.get("generator"), place or machine.device_of(data))
    pinned = kwargs.pop("pin_memory", False)
    if factory.default == "data" and isinstance(data, Tensor):
        return _from_tensor(machine, func, data, place, args, kwargs)
    made = func(*args, **_on_cpu(factory, kwargs))
    if place is not None and kwargs.get("out") is None:
        check_dtype(made.dtype, place)
        set_device(made, place)
    for claim in make_claims(made) if pinned else ():
        claim.pinned = True
    return made


def _default(machine: Machine, factory: Factory, data: Any) -> torch.device | None:
    """The place without `device=`; None where the dispatcher's labels say it (`*_like`, `new_*`)."""
    if factory.default in ("input", "self"):
        return machine.device_of(data) if isinstance(data, Tensor) else None
    context = context_device(machine) if factory.follows_context else None
    if context is not None:
        return context
    if factory.default == "data" and isinstance(data, Tensor):
        return machine.device_of(data)
    return machine.default_type_device


def _on_cpu(factory: Factory, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords for the true call. Naming the CPU keeps a device context from naming what PyTorch lacks."""
    if not factory.takes_device or kwargs.get("out") is not None:
        kwargs.pop("device", None)
        return kwargs
    return {**kwargs, "device": CPU}


def _from_tensor(
    machine: Machine, func: Any, data: Tensor, place: torch.device | None, args: Any, kwargs: dict[str, Any]
) -> Any:
    kwargs.pop("device", None)
    before = machine.device_of(data)
    made = func(*args, **kwargs)
    if place is None or place == before:
        return made
    check_dtype(made.dtype, place)
    if made.layout is not torch.strided or address_of(made) == address_of(data):
        return copied_to(made, place)
    set_device(made, place)
    return made


def _check_generator(generator: Any, place: torch.device) -> None:
    if generator is not None and generator.device.type != place.type:
        raise RuntimeError(generator_text(place, generator.device))
