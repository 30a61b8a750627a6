"""Worker processes of a loader that use the accelerator: those that fork may not, the others each pay for a context."""

from __future__ import annotations

import sys
from functools import wraps
from types import FrameType
from typing import Any

import torch
from torch.utils.data import _utils

from devlint.runtime.frames import user_frames
from devlint.runtime.patching import Patches
from devlint.runtime.recorder.recorder import Recorder
from devlint.semantics import classify

_FORKED = "fork"
_TOUCHES = ("set_device", "_lazy_init")
"""Functions of ``torch.cuda`` that a forked process fails in without any operation."""


def install(recorder: Recorder, patches: Patches) -> None:
    """Have forked workers know what they are. One that is spawned starts afresh and is not observed."""
    true_loop: Any = _utils.worker._worker_loop

    @wraps(true_loop)
    def loop(*args: Any, **kwargs: Any) -> Any:
        recorder.reached, recorder.in_worker = False, True
        for name in _TOUCHES:
            # This process ends with the loop: nothing is put back.
            setattr(torch.cuda, name, _telling(recorder, getattr(torch.cuda, name)))
        return true_loop(*args, **kwargs)

    patches.set(_utils.worker, "_worker_loop", loop)


def _telling(recorder: Recorder, touch: Any) -> Any:
    @wraps(touch)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return touch(*args, **kwargs)
        except RuntimeError as error:
            tell_refused(recorder, error, sys._getframe(1))
            raise

    return call


def tell_refused(recorder: Recorder, error: Exception, frame: FrameType | None) -> None:
    """Tell of an error that says that a forked process cannot use CUDA."""
    known = classify(str(error))
    if recorder.in_worker and known is not None and known.kind == _FORKED:
        innermost = next(user_frames(frame), None)
        recorder.say("worker", innermost, (), "torch.utils.data.DataLoader", str(error))


def tell_used(recorder: Recorder, frame: FrameType | None) -> None:
    """The first operation on the accelerator in a worker that may use it."""
    message = f"a worker process of the loader uses {recorder.device}: each worker opens a context of its own there"
    recorder.say("worker", next(user_frames(frame), None), (), "torch.utils.data.DataLoader", message)
