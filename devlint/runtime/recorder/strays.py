"""Work that lands on the CPU inside the forward of a module on an accelerator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from devlint.runtime.labels import CPU
from devlint.runtime.recorder.recorder import Recorder
from devlint.runtime.recorder.traces import Trace


@dataclass(frozen=True, slots=True)
class Stray:
    """A tensor as the dispatcher made it, on the CPU so far."""

    func: Any
    tensor: torch.Tensor
    trace: Trace
    computed: bool


def tell_strays(recorder: Recorder) -> None:
    """The call is over: what was told to be on the accelerator is there by now."""
    strays, recorder.local.strays = recorder.local.strays, []
    for stray in strays:
        tell_stray(recorder, stray)


def tell_stray(recorder: Recorder, stray: Stray) -> None:
    """Tell each place once."""
    place = stray.trace.made
    if place is None or place in recorder.strayed or recorder.machine.device_of(stray.tensor) != CPU:
        return
    recorder.strayed.add(place)
    what, detail = ("computed", "compute") if stray.computed else ("made", "factory")
    message = f"{stray.func} {what} a tensor on the CPU inside a forward on {recorder.device}"
    recorder.emit("strayed", [("result", stray.tensor)], str(stray.func), message, detail=detail)
