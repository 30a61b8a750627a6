"""The name a frame has for a tensor or a generator: a variable, a path ("self.cell.weight"), an element of a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

import torch

from devlint.runtime.labels import address_of

Tensor = torch.Tensor
Generator = torch._C.Generator
_DEPTH = 3
_MOST = 2_000


def name_of(tensor: Tensor | Generator, frame: FrameType | None) -> str:
    """The shortest name found, by identity first and then by shared storage; "" when there is none."""
    if frame is None:
        return ""
    with torch._C.DisableTorchFunction():
        held = list(_held(frame.f_locals))
        for path, value in held:
            if value is tensor:
                return path
        address = _address(tensor) if isinstance(tensor, Tensor) else 0
        return next((p for p, v in held if address and isinstance(v, Tensor) and _address(v) == address), "")


def _address(tensor: Tensor) -> int:
    try:
        return int(address_of(tensor))
    except RuntimeError:
        return 0


def _held(variables: Mapping[str, Any]) -> Iterator[tuple[str, Tensor | Generator]]:
    """Tensors and generators by path, breadth first, so that shorter names come first."""
    level = list(variables.items())
    visited: set[int] = set()
    for _ in range(_DEPTH):
        following: list[tuple[str, Any]] = []
        for path, value in level[:_MOST]:
            if isinstance(value, Tensor | Generator):
                yield path, value
            elif id(value) not in visited:
                visited.add(id(value))
                following += _parts(path, value)
        level = following


def _parts(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, torch.nn.Module):
        for store in (value._parameters, value._buffers, value._modules):
            yield from ((f"{path}.{name}", held) for name, held in store.items())
        yield from ((f"{path}.{n}", v) for n, v in vars(value).items() if not n.startswith("_"))
    elif isinstance(value, list | tuple):
        yield from ((f"{path}[{i}]", item) for i, item in enumerate(value[:50]))
    elif isinstance(value, dict):
        yield from ((f"{path}[{key!r}]", item) for key, item in list(value.items())[:50])
    elif hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        yield from ((f"{path}.{name}", held) for name, held in list(vars(value).items())[:50])
