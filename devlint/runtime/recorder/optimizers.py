"""An optimizer whose state lies elsewhere than its parameters: PyTorch finds out in C++, where no mode looks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import torch

from devlint.runtime.patching import Patches
from devlint.runtime.recorder.clashes import kind_of
from devlint.runtime.recorder.recorder import Recorder
from devlint.runtime.recorder.traces import seen, set_trace, trace_of

Tensor = torch.Tensor
Stray = tuple[Tensor, Tensor]
"""A tensor of the state, and the parameter that it belongs to."""

_GROUP = "_group_tensors_by_device_and_dtype"


def install(recorder: Recorder, patches: Patches) -> None:
    """Have the grouping that an optimizer begins its step with tell what lies elsewhere, and go on."""
    true_group: Any = getattr(torch._C, _GROUP)

    def group(tensorlists: list[list[Tensor | None]], *args: Any, **kwargs: Any) -> Any:
        try:
            return true_group(tensorlists, *args, **kwargs)
        except RuntimeError as error:
            strays = list(_strays(recorder, tensorlists)) if kind_of(str(error)) is not None else []
            if not strays:
                raise
            _tell(recorder, strays, str(error), sys._getframe(1))
            if not recorder.repair:
                error._devlint_told = True  # type: ignore[attr-defined]
                raise
        for stray, parameter in strays:
            _bring_over(recorder, stray, parameter)
        return true_group(tensorlists, *args, **kwargs)

    patches.set(torch._C, _GROUP, group)


def _strays(recorder: Recorder, tensorlists: Sequence[Sequence[Tensor | None]]) -> Iterator[Stray]:
    device_of = recorder.machine.device_of
    for index, parameter in enumerate(tensorlists[0]):
        for others in tensorlists[1:]:
            tensor = others[index] if others else None
            # A step that is counted on the host is what every optimizer has.
            if parameter is None or tensor is None or not tensor.dim():
                continue
            if device_of(tensor) != device_of(parameter):
                yield tensor, parameter


def _tell(recorder: Recorder, strays: Sequence[Stray], message: str, frame: FrameType) -> None:
    """One clash for each kind of state: a model has many parameters, and their state is made in one place."""
    names = _names_of_state(frame)
    told: set[str] = set()
    for stray, parameter in strays:
        name = names.get(id(stray), "")
        if name in told:
            continue
        told.add(name)
        device_of = recorder.machine.device_of
        operands = (seen(stray, device_of(stray), "state", name), seen(parameter, device_of(parameter), "parameter"))
        trace = trace_of(stray)
        echo = trace is not None and trace.repaired
        judged = "judge" if recorder.machine.simulated else "device"
        recorder.say("clash", frame, operands, "Optimizer.step", message, judged=judged, repaired=echo)


def _names_of_state(frame: FrameType | None) -> dict[int, str]:
    """The keys of the running optimizer's state: "exp_avg", "momentum_buffer"."""
    while frame is not None:
        optimizer = frame.f_locals.get("self")
        if isinstance(optimizer, torch.optim.Optimizer):
            states = (state for state in optimizer.state.values() if isinstance(state, dict))
            return {id(v): key for state in states for key, v in state.items() if isinstance(v, Tensor)}
        frame = frame.f_back
    return {}


def _bring_over(recorder: Recorder, stray: Tensor, parameter: Tensor) -> None:
    """Where its parameter is, the same object: the optimizer holds it by its own name."""
    with recorder.quiet():
        moved = recorder.machine.move(stray.detach(), recorder.machine.device_of(parameter))
        trace = trace_of(moved)
        stray.data = moved
        if trace is not None:
            trace.repaired = True
            set_trace(stray, trace)
