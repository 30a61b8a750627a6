"""Modules: what stays behind when they move, and what lands on the CPU while they run on an accelerator."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import torch

from devlint.runtime.frames import user_frames
from devlint.runtime.labels import CPU
from devlint.runtime.observation import Seen
from devlint.runtime.patching import Patches
from devlint.runtime.recorder.recorder import Recorder
from devlint.runtime.recorder.results import look_at_result
from devlint.runtime.recorder.traces import seen

Tensor = torch.Tensor
Module = torch.nn.Module

_DEPTH = 3
_MOST = 200


def install(recorder: Recorder, patches: Patches) -> None:
    true_call: Any = Module.__call__

    def call(self: Module, *args: Any, **kwargs: Any) -> Any:
        local = recorder.local
        if local.calls:
            return true_call(self, *args, **kwargs)
        local.calls, local.forward = 1, is_on(recorder, self, args, kwargs)
        try:
            out = true_call(self, *args, **kwargs)
            if local.forward:
                look_at_output(recorder, self, out)
            return out
        finally:
            local.calls, local.forward = 0, False

    patches.set(Module, "__call__", call)
    for name in ("to", "cuda", "to_empty"):
        patches.set(Module, name, _looking_back(recorder, getattr(Module, name), name))


def _looking_back(recorder: Recorder, true_move: Any, name: str) -> Any:
    def move(self: Module, *args: Any, **kwargs: Any) -> Any:
        out = true_move(self, *args, **kwargs)
        look_back(recorder, self, f"Module.{name}")
        return out

    return move


def is_on(recorder: Recorder, module: Module, args: Any, kwargs: Any) -> bool:
    """Whether a call has anything on the accelerator: a parameter, a buffer or an argument."""
    if recorder.device == CPU:
        return False
    device_of = recorder.machine.device_of
    first = next((t for store in (module.parameters(), module.buffers()) for t in store), None)
    if first is not None and device_of(first) == recorder.device:
        return True
    return any(isinstance(v, Tensor) and device_of(v) == recorder.device for v in (*args, *kwargs.values()))


def look_at_output(recorder: Recorder, module: Module, out: Any) -> None:
    """A tensor of values that comes out of a module on the accelerator should be there too, unless the program itself
    brought it to the host."""
    name = type(module).__qualname__
    message = f"{name} runs on {recorder.device} and returns a tensor on the CPU"
    look_at_result(recorder, f"{name}.__call__", out, message)


def look_back(recorder: Recorder, module: Module, operation: str) -> None:
    """After a move to the accelerator: what the module holds and the move did not take along."""
    device = next((recorder.machine.device_of(p) for p in (*module.parameters(), *module.buffers())), None)
    if device is None or device == CPU:
        return
    frame = next(user_frames(sys._getframe(1)), None)
    registered = set(map(id, module.modules()))
    for path, value in held(module):
        if isinstance(value, Tensor):
            there = recorder.machine.device_of(value)
            if there != device and there.type != "meta":
                operand = seen(value, there, path, named=path)
                message = f"{path} is a plain tensor: moving the module to {device} leaves it on {there}"
                recorder.say("left-behind", frame, (operand,), operation, message, detail="tensor")
        elif isinstance(value, Module):
            first = next(iter(value.parameters()), None)
            if id(value) not in registered and first is not None and recorder.machine.device_of(first) != device:
                operand = seen(first, recorder.machine.device_of(first), path, named=path)
                message = f"{path} is a module in a plain container: moving its owner to {device} leaves it behind"
                recorder.say("left-behind", frame, (operand,), operation, message, detail="module")
        else:
            named = recorder.machine.resolve(value)
            if named != device:
                operand = Seen(path, str(named), (), "")
                message = f"{path} still says {value} after the module moved to {device}"
                recorder.say("stale-device", frame, (operand,), operation, message, detail=f"{path}={value}")


def held(module: Module) -> Iterator[tuple[str, Any]]:
    """Plain tensors, modules in plain containers and stored devices of a module and its submodules, by path."""
    for prefix, owner in module.named_modules():
        before = f"self.{prefix}." if prefix else "self."
        for name, value in list(vars(owner).items()):
            if name not in ("_parameters", "_buffers", "_modules") and not name.startswith("__"):
                yield from _in(before + name, value, name, _DEPTH)


def _in(path: str, value: Any, name: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Tensor | Module) or _names_device(name, value):
        yield path, value
    elif depth and isinstance(value, list | tuple):
        for index, item in enumerate(value[:_MOST]):
            yield from _in(f"{path}[{index}]", item, name, depth - 1)
    elif depth and isinstance(value, dict):
        for key, item in list(value.items())[:_MOST]:
            yield from _in(f"{path}[{key!r}]", item, name, depth - 1)


def _names_device(name: str, value: Any) -> bool:
    if isinstance(value, str) and "device" in name:
        try:
            torch.device(value)
        except RuntimeError:
            return False
        return True
    return isinstance(value, torch._C.device)
