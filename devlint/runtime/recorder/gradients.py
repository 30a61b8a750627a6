"""Gradients that a program hands to a backward pass: autograd's engine wants each beside the tensor it belongs to."""

from __future__ import annotations

from typing import Any

import torch

from devlint.runtime.recorder.clashes import mark_repaired
from devlint.runtime.recorder.recorder import Recorder

Tensor = torch.Tensor

_GRADIENTS = {Tensor.backward: "gradient", torch.autograd.backward: "grad_tensors", torch.autograd.grad: "grad_outputs"}
"""What starts a backward pass, and its argument with the gradients. Its first are the tensors that they belong to."""
STARTS_BACKWARD = frozenset(_GRADIENTS)
_POSITION = {torch.autograd.grad: 2}


def brought_beside(recorder: Recorder, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments with each gradient where its tensor is; what lies elsewhere is told, unless it is 0-dim.

    Raises RuntimeError as PyTorch does where nothing is repaired. Source: ``validate_outputs`` in
    torch/csrc/autograd/engine.cpp, which moves 0-dim gradients itself.
    """
    name, position = _GRADIENTS[func], _POSITION.get(func, 1)
    by_position = len(args) > position
    given = args[position] if by_position else kwargs.get(name)
    outputs = args[0] if args else kwargs.get("tensors", kwargs.get("outputs"))
    gradients, tensors = _items(given), _items(outputs)
    pairs = enumerate(zip(tensors, gradients, strict=False))
    beside = [*(_beside(recorder, index, *pair) for index, pair in pairs), *gradients[len(tensors) :]]
    if all(a is b for a, b in zip(beside, gradients, strict=True)):
        return args, kwargs
    moved = beside[0] if isinstance(given, Tensor) else beside
    return ((*args[:position], moved, *args[position + 1 :]), kwargs) if by_position else (args, kwargs | {name: moved})


def _beside(recorder: Recorder, index: int, output: Any, gradient: Any) -> Any:
    if not isinstance(output, Tensor) or not isinstance(gradient, Tensor):
        return gradient
    place, there = recorder.machine.device_of(output), recorder.machine.device_of(gradient)
    if place == there:
        return gradient
    if gradient.dim():
        message = f"invalid gradient at index {index} - expected device {place} but got {there}"
        _tell(recorder, message, gradient, output)
    with recorder.quiet():
        moved = recorder.machine.move(gradient, place)
    if gradient.dim():
        mark_repaired(moved)
    return moved


def _tell(recorder: Recorder, message: str, gradient: Tensor, output: Tensor) -> None:
    recorder.emit("clash", [("gradient", gradient), ("output", output)], "backward", message)
    if not recorder.repair:
        error = RuntimeError(message)
        error._devlint_told = True  # type: ignore[attr-defined]
        raise error


def _items(values: Any) -> tuple[Any, ...]:
    """One or several; none of what can be read only once."""
    if isinstance(values, list | tuple):
        return tuple(values)
    return (values,) if isinstance(values, Tensor) else ()
