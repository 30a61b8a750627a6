"""Plain tensors that a module was given after it was built: whoever gave them would have given them on the device.

`net.table = t` in a test, or a setter that keeps its argument. What a constructor keeps, or a method makes, is the
module's own: that it stays behind is the bug looked for.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.utils.weak import WeakIdKeyDictionary

from devlint.runtime.labels import address_of

Tensor = torch.Tensor


class HandedIn:
    """While `followed`, remembers which plain tensors were handed to which modules; `tensor in handed_in` asks."""

    def __init__(self) -> None:
        self._tensors = WeakIdKeyDictionary()

    def __contains__(self, tensor: Tensor) -> bool:
        return tensor in self._tensors

    @contextlib.contextmanager
    def followed(self) -> Iterator[None]:
        true_set = nn.Module.__setattr__

        def set_attribute(module: nn.Module, name: str, value: Any) -> None:
            true_set(module, name, value)
            is_plain = isinstance(value, Tensor) and not isinstance(value, nn.Parameter)
            if is_plain and name not in module._buffers and _is_from_outside(sys._getframe(1), module, value):
                self._tensors[value] = True

        nn.Module.__setattr__ = set_attribute  # type: ignore[method-assign, assignment]
        try:
            yield
        finally:
            nn.Module.__setattr__ = true_set  # type: ignore[method-assign]


def _is_from_outside(frame: FrameType | None, module: nn.Module, value: Tensor) -> bool:
    """Whether the code that keeps the tensor is not the module's, or had the tensor's memory from its caller."""
    while frame is not None and frame.f_code.co_name in ("__setattr__", "set_attribute"):
        frame = frame.f_back
    if frame is None:
        return False
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if not names or frame.f_locals.get(names[0]) is not module:
        return True
    if code.co_name == "__init__":
        return False
    given = (frame.f_locals.get(name) for name in names[1:])
    return any(isinstance(each, Tensor) and _address(each) == _address(value) for each in given)


def _address(tensor: Tensor) -> int:
    try:
        return int(address_of(tensor))
    except RuntimeError:
        return id(tensor)
