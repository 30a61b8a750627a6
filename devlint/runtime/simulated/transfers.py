"""Moving tensors between devices: a copy that claims another place, and a gradient that finds its way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from devlint.runtime.labels import CPU, device_of, make_claims, of_this_machine, set_device
from devlint.runtime.simulated.kinds import check_dtype
from devlint.runtime.simulated.machine import Machine

Tensor = torch.Tensor
_to = torch.Tensor.to


class Request(NamedTuple):
    """What a `.to` asks for; None where it asks for nothing."""

    device: Any
    dtype: torch.dtype | None
    copy: bool
    memory_format: Any


def read_to(machine: Machine, args: Sequence[Any], kwargs: dict[str, Any]) -> Request:
    """The arguments of `Tensor.to` after self, in all three forms: dtype, device, other."""
    names: tuple[str, ...]
    first = args[0] if args else None
    if isinstance(first, torch.dtype):
        names = ("dtype", "non_blocking", "copy")
    elif isinstance(first, Tensor) or "other" in kwargs:
        names = ("other", "non_blocking", "copy")
    else:
        names = ("device", "dtype", "non_blocking", "copy")
    if len(args) > len(names):
        raise TypeError(f"to() takes at most {len(names)} positional arguments here, {len(args)} were given")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    other = given.pop("other", None)
    if other is not None:
        given.update(device=machine.device_of(other), dtype=other.dtype)
    return Request(given.get("device"), given.get("dtype"), bool(given.get("copy")), given.get("memory_format"))


def move(machine: Machine, tensor: Tensor, request: Request) -> Tensor:
    """`tensor.to(...)`. The same object when nothing changes."""
    kwargs: dict[str, Any] = {"dtype": request.dtype or tensor.dtype, "copy": request.copy}
    if request.memory_format is not None:
        kwargs["memory_format"] = request.memory_format
    place = machine.resolve(request.device) if request.device is not None else None
    if place is not None and (place.type not in ("cpu", machine.type) or tensor.is_meta):
        # A meta tensor has no data to move: PyTorch's own refusal, whatever the target.
        return _to(tensor, device=CPU if tensor.is_meta and place.type == machine.type else place, **kwargs)
    if place is None or place == machine.device_of(tensor):
        return _to(tensor, **kwargs)
    return copied_to(tensor, place, **kwargs)


def copied_to(tensor: Tensor, place: torch.device, **kwargs: Any) -> Tensor:
    """A copy on another device, differentiable: its gradient is brought back to where the tensor is."""
    kwargs = {"dtype": tensor.dtype, **kwargs, "copy": True}
    moved = _to(tensor, **kwargs)
    label(moved, place)
    node = moved.grad_fn
    if node is not None:
        origin, is_there = device_of(tensor), of_this_machine()
        node.register_hook(
            lambda grads, _: tuple(gradient_to(g, origin) if g is not None and is_there() else g for g in grads)
        )
    return moved


def label(tensor: Tensor, place: torch.device) -> None:
    """A fresh tensor is labelled, also one that so far claims its source's device."""
    check_dtype(tensor.dtype, place)
    set_device(tensor, place)
    for claim in make_claims(tensor):
        claim.pinned = False


def gradient_to(grad: Tensor, place: torch.device) -> Tensor:
    """A gradient where its tensor is. Differentiable, so that a second backward finds its way too."""
    return grad if device_of(grad) == place else copied_to(grad, place)
