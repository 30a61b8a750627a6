"""`torch.load` and `from_numpy`, which no mode sees: errors of the first with their repair, births of the second."""

from __future__ import annotations

import sys
from typing import Any

import torch

from devlint.runtime.frames import here
from devlint.runtime.patching import Patches
from devlint.runtime.recorder.clashes import kind_of
from devlint.runtime.recorder.recorder import Recorder
from devlint.runtime.recorder.traces import Trace, set_trace

Tensor = torch.Tensor


def install(recorder: Recorder, patches: Patches) -> None:
    true_load: Any = torch.load

    def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        start = f.tell() if hasattr(f, "tell") and hasattr(f, "seek") else None
        try:
            return true_load(f, map_location, *args, **kwargs)
        except RuntimeError as error:
            kind = kind_of(str(error))
            if kind != "load":
                raise
            recorder.say(kind, sys._getframe(1), (), "torch.load", str(error))
            error._devlint_told = True  # type: ignore[attr-defined]
            if not recorder.repair:
                raise
            if start is not None:
                f.seek(start)
            return true_load(f, recorder.device, *args, **kwargs)

    patches.set(torch, "load", load)
    for name in ("from_numpy", "frombuffer", "from_file"):
        patches.set(torch, name, _born(recorder, getattr(torch, name)))


def _born(recorder: Recorder, maker: Any) -> Any:
    def make(*args: Any, **kwargs: Any) -> Any:
        made = maker(*args, **kwargs)
        raw = here(2)
        if raw is not None:
            set_trace(made, Trace((raw,), raw, of_read=recorder.local.has_read))
        return made

    return make
