"""Whose doing it is where a call's tensors are: its operands', or its own.

Inside one call of the program torch makes tensors for itself: `one_hot` fills one, `where` makes one of a number,
`pad_sequence` collects into one. They are where the operands are, because of these. What a call is told to put
elsewhere is there because of the call.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from devlint.runtime.frames import here
from devlint.runtime.labels import CPU
from devlint.runtime.recorder.recorder import Given, Recorder
from devlint.runtime.recorder.traces import Trace, trace_of
from devlint.runtime.simulated.factories import known_factories

Tensor = torch.Tensor


def traces_on_the_cpu(recorder: Recorder, given: Given) -> list[Trace | None]:
    """The traces of a call's operands on the CPU; none for a factory, whose result goes where it says itself."""
    func, args, kwargs = given
    if places_by_itself(func):
        return []
    device_of = recorder.machine.device_of
    leaves = tree_leaves((args, kwargs))
    return [trace_of(leaf) for leaf in leaves if isinstance(leaf, Tensor) and device_of(leaf) == CPU]


def put_elsewhere(recorder: Recorder, args: Any, result: Tensor) -> None:
    """A result that was told to be where no operand is (`zeros_like(x, device="cpu")`) is there by this call."""
    place, device_of = recorder.machine.device_of(result), recorder.machine.device_of
    operands = [value for value in args if isinstance(value, Tensor)]
    if operands and all(device_of(value) != place for value in operands):
        raw, trace = here(2), trace_of(result)
        if raw is not None and trace is not None:
            trace.births, trace.made, trace.moved = (raw,), raw, None


@cache
def places_by_itself(func: Any) -> bool:
    """Whether a function makes a tensor and asks none of its operands where."""
    factory = known_factories().get(func)
    return factory is not None and factory.default not in ("input", "self")
