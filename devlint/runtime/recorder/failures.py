"""An exception that left the program, as an observation."""

from __future__ import annotations

import re
from types import TracebackType

from devlint.runtime.frames import is_user_code, spot
from devlint.runtime.observation import Observation, Phase, Spot
from devlint.runtime.recorder.clashes import kind_of
from devlint.runtime.recorder.recorder import phase_of
from devlint.runtime.simulated.errors import NotSimulated
from devlint.semantics import classify

_NO_TRANSFER = re.compile(r"'(\w+)' object has no attribute '(to|cuda|cpu|xpu|pin_memory)'")


def observation_of(error: BaseException) -> Observation | None:
    """The observation an exception makes; None for one that was recorded when it was raised."""
    if getattr(error, "_devlint_told", False):
        return None
    places, phase = _where(error.__traceback__)
    text = str(error)
    kind, detail = kind_of(text), type(error).__name__
    if kind is None and (known := classify(text)) is not None and known.category == "device_unavailable":
        kind = "no-accelerator"
    if isinstance(error, NotSimulated):
        kind, detail = "not-simulated", error.what
    elif isinstance(error, AttributeError) and (found := _NO_TRANSFER.search(text)):
        kind, detail = "attribute", f"{found[1]}.{found[2]}"
    return Observation(kind or "error", places, (), "", text, phase, False, "device", detail)


def _where(traceback: TracebackType | None) -> tuple[tuple[Spot, ...], Phase]:
    """The user's frames of a traceback, innermost first, and what was running."""
    places: list[Spot] = []
    phase: Phase = "other"
    while traceback is not None:
        frame = traceback.tb_frame
        found = spot((frame.f_code, traceback.tb_lasti)) if is_user_code(frame.f_code.co_filename) else None
        if found is not None:
            places.insert(0, found)
        if traceback.tb_next is None:
            phase = phase_of(frame)
        traceback = traceback.tb_next
    return tuple(places), phase
