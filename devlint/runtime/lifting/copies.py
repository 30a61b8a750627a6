"""A call on a real accelerator: made with copies there, whose results, gradients and changes find their way back.

Parameters and buffers are exchanged for moved copies while the call runs, as `torch.func.functional_call` does it, and
so are the tensors in its arguments. Copies are differentiable: gradients flow back to the CPU's parameters. What the
call writes into a copy is copied back; what it leaves behind on modules and in containers comes back to the CPU.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import torch
from torch import nn

from devlint.runtime.lifting.reachable import DEPTH, FIXED

Tensor = torch.Tensor
Move = Callable[[Tensor, torch.device], Tensor]
CPU = torch.device("cpu")


class Copies:
    """The copies of one call. `sent` exchanges what a value holds, `back` undoes it.

    ``buffers``: what is copied back whether or not it says that it was changed, since normalisations write into their
    statistics unannounced (ATen's native_functions.yaml: native_batch_norm).
    """

    def __init__(self, tensors: Iterable[Tensor], buffers: Iterable[Tensor], device: torch.device, move: Move) -> None:
        self._buffers = {id(buffer) for buffer in buffers}
        self._device = device
        self._move = move
        self._copies: dict[int, Tensor] = {}
        self._originals: dict[int, Tensor] = {}
        self._versions: dict[int, int] = {}
        for tensor in tensors:
            copy = move(tensor, device)
            self._copies[id(tensor)] = copy
            self._originals[id(copy)] = tensor
            self._versions[id(copy)] = copy._version

    def sent(self, value: Any) -> Any:
        """The value as the call gets it: modules and containers the same objects, with copies in them."""
        return _Exchange(lambda t: self._copies.get(id(t), t)).of(value)

    def back(self, value: Any) -> Any:
        """A value after the call: the originals for their copies, everything else brought to the CPU."""
        return _Exchange(self._home).of(value)

    def write_back(self) -> None:
        """What was changed in place is changed in the original too."""
        with torch.no_grad():
            for key, version in self._versions.items():
                original = self._originals[key]
                copy = self._copies[id(original)]
                changed = copy._version != version or id(original) in self._buffers
                if changed and not original.is_inference():
                    original.copy_(self._move(copy.detach(), CPU))

    def _home(self, tensor: Tensor) -> Tensor:
        original = self._originals.get(id(tensor))
        if original is not None:
            return original
        return self._move(tensor, CPU) if tensor.device.type == self._device.type else tensor


class _Exchange:
    """Tensors for tensors, in place where a holder can be changed, so that it stays the object it is."""

    def __init__(self, one: Callable[[Tensor], Tensor]) -> None:
        self._one = one
        self._seen: set[int] = set()

    def of(self, value: Any, depth: int = DEPTH) -> Any:
        if isinstance(value, Tensor):
            return self._one(value)
        if isinstance(value, FIXED) or depth < 0:
            return value
        if isinstance(value, nn.utils.rnn.PackedSequence):
            return self._packed(value)
        if isinstance(value, tuple):
            items = [self.of(item, depth - 1) for item in value]
            if all(a is b for a, b in zip(items, value, strict=True)):
                return value
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if id(value) not in self._seen:
            self._seen.add(id(value))
            self._inside(value, depth)
        return value

    def _packed(self, value: nn.utils.rnn.PackedSequence) -> nn.utils.rnn.PackedSequence:
        """Its batch sizes are the host's, wherever the rest is."""
        orders = [None if order is None else self._one(order) for order in value[2:]]
        return nn.utils.rnn.PackedSequence(self._one(value.data), value.batch_sizes, *orders)

    def _inside(self, value: Any, depth: int) -> None:
        if isinstance(value, nn.Module):
            for part in value.modules():
                self._module(part)
        elif isinstance(value, list):
            self._put(enumerate(list(value)), value.__setitem__, depth)
        elif isinstance(value, dict):
            self._put(list(value.items()), partial(dict.__setitem__, value), depth)
        elif dataclasses.is_dataclass(value):
            fields = [(field.name, getattr(value, field.name, None)) for field in dataclasses.fields(value)]
            self._put(fields, partial(object.__setattr__, value), depth)
        elif isinstance(value, FunctionType):
            for cell in value.__closure__ or ():
                with suppress(ValueError):  # a cell that nothing was put into yet
                    self._put([("cell_contents", cell.cell_contents)], partial(setattr, cell), depth)
        elif isinstance(value, MethodType):
            self.of(value.__self__, depth - 1)
        elif isinstance(value, partial):
            self.of((*value.args, value.keywords, value.func), depth - 1)
        elif hasattr(value, "__dict__"):
            self._put(list(vars(value).items()), vars(value).__setitem__, depth)

    def _put(self, items: Iterable[tuple[Any, Any]], put: Callable[[Any, Any], Any], depth: int) -> None:
        """Exchange what is held, and touch nothing that stays as it is."""
        for key, item in items:
            new = self.of(item, depth - 1)
            if new is not item:
                put(key, new)

    def _module(self, part: nn.Module) -> None:
        """Also what it keeps plainly: a recurrent layer has its weights in a list besides."""
        self._seen.add(id(part))
        for store in (part._parameters, part._buffers):
            for name, held in list(store.items()):
                if held is not None:
                    store[name] = self._one(held)  # type: ignore[assignment]
        for name, item in list(vars(part).items()):
            if name not in ("_parameters", "_buffers", "_modules") and not isinstance(item, nn.Module):
                self._put([(name, item)], vars(part).__setitem__, 2)
