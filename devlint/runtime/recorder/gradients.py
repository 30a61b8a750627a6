"""Gradients that a program hands to a backward pass: autograd's engine wants each beside the tensor it belongs to."""

from __future__ import annotations

from typing import Any

import torch

from devlint.runtime.recorder.recorder import Recorder
from devlint.runtime.recorder.traces import trace_of

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
    given = args[position] if len(args) > position else kwargs.get(name)
    outputs = args[0] if args else kwargs.get("tensors", kwargs.get("outputs"))
    if given is None or outputs is None:
        return args, kwargs
    pairs = zip(_items(outputs), _items(given), strict=False)
    beside = [_beside(recorder, index, output, gradient) for index, (output, gradient) in enumerate(pairs)]
    moved = beside[0] if isinstance(given, Tensor) else beside
    if len(args) > position:
        return (*args[:position], moved, *args[position + 1 :]), kwargs
    return args, {**kwargs, name: moved}


def _beside(recorder: Recorder, index: int, output: Any, gradient: Any) -> Any:
    if not isinstance(output, Tensor) or not isinstance(gradient, Tensor):
        return gradient
    place, there = recorder.machine.device_of(output), recorder.machine.device_of(gradient)
    if place == there:
        return gradient
    if gradient.dim():
        _tell(
            recorder, f"invalid gradient at index {index} - expected device {place} but got {there}", gradient, output
        )
    before, recorder.local.quiet = recorder.local.quiet, True
    try:
        moved = recorder.machine.move(gradient, place)
    finally:
        recorder.local.quiet = before
    trace = trace_of(moved)
    if trace is not None and gradient.dim():
        trace.repaired = True
    return moved


def _tell(recorder: Recorder, message: str, gradient: Tensor, output: Tensor) -> None:
    recorder.emit("clash", [("gradient", gradient), ("output", output)], "backward", message)
    if not recorder.repair:
        error = RuntimeError(message)
        error._devlint_told = True  # type: ignore[attr-defined]
        raise error


def _items(values: Any) -> tuple[Any, ...]:
    return (values,) if isinstance(values, Tensor) else tuple(values)
