"""What a call on the accelerator hands back on the CPU, and who wants it there.

A value is wanted on the host where the program brought it there, made it of what it had read, or named the CPU for it.
What it made without saying where lies on the CPU by omission.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from devlint.runtime.labels import CPU
from devlint.runtime.recorder.recorder import Recorder
from devlint.runtime.recorder.traces import trace_of

Tensor = torch.Tensor
_NAMES = (str, torch.device, Tensor)
"""What the first argument of ``Tensor.to`` is when it names a place; a dtype names none."""


def look_at_result(recorder: Recorder, name: str, result: Any, message: str) -> None:
    """Tell of tensors of values on the CPU that the call made, and that nobody wants there.

    Indices on the CPU are as right as others, so that alone they say nothing; made in passing and handed back beside
    tensors on the accelerator they show what a finding at their line foretells.
    """
    leaves = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
    are_there = any(recorder.machine.device_of(leaf) == recorder.device for leaf in leaves)
    for leaf in leaves:
        if leaf.dim() == 0 or recorder.machine.device_of(leaf) != CPU or is_wanted_there(recorder, leaf):
            continue
        if leaf.is_floating_point():
            recorder.emit("strayed", [("output", leaf)], name, message, detail="output")
        elif are_there and _is_made_in_passing(leaf):
            recorder.emit("strayed", [("output", leaf)], name, message, detail="beside")


def is_wanted_there(recorder: Recorder, tensor: Tensor) -> bool:
    """Whether a value on the host was moved there, or made of one that was, or lies in memory that only it has."""
    trace = trace_of(tensor)
    return (trace is not None and trace.hosted) or recorder.machine.is_pinned(tensor)


def look_at_returned(recorder: Recorder, name: str, result: Any, strict: bool) -> None:
    """Of a function that was given tensors on the accelerator: only what it made itself, and named no place for.

    ``strict``: what it made of numbers that it had read there as well, indices, and single numbers.
    """
    tensors = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
    message = f"{name} is given tensors on {recorder.device} and returns one on the CPU"
    if strict:
        for leaf in tensors:
            if recorder.machine.device_of(leaf) == CPU and _is_made_anyhow(leaf):
                recorder.emit("strayed", [("output", leaf)], name, message, detail="output")
    else:
        look_at_result(recorder, name, list(filter(_is_made_in_passing, tensors)), message)


def _is_made_anyhow(tensor: Tensor) -> bool:
    """Whether the program made it without naming a place, and not of what it had brought to the host."""
    trace = trace_of(tensor)
    if trace is None or trace.made is None or trace.told:
        return False
    return not trace.hosted or trace.births == (trace.made,)  # made on the host, and filled there


def _is_made_in_passing(tensor: Tensor) -> bool:
    trace = trace_of(tensor)
    return trace is not None and trace.made is not None and not (trace.told or trace.of_read)


def names_a_place(func: Any, args: Any, kwargs: Any) -> bool:
    """Whether a call says where its result goes."""
    return "device" in kwargs or func is Tensor.cpu or (len(args) > 1 and isinstance(args[1], _NAMES))


def told_to_be(recorder: Recorder, result: Any) -> None:
    """A call that says where its result goes has put it on the CPU."""
    trace = trace_of(result) if isinstance(result, Tensor) else None
    if trace is not None and recorder.machine.device_of(result) == CPU:
        trace.told = True


def written_by_host(recorder: Recorder, target: Any, value: Any) -> None:
    """``losses[k] = loss.item()``: what is collected on the host is wanted there."""
    trace = trace_of(target) if isinstance(target, Tensor) else None
    if trace is None or recorder.machine.device_of(target) != CPU:
        return
    of_value = trace_of(value) if isinstance(value, Tensor) else None
    read = recorder.local.has_read and not isinstance(value, Tensor)
    if (of_value.hosted or of_value.of_read) if of_value is not None else read:
        trace.hosted = True
