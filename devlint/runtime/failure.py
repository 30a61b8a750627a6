"""An exception that ends a run, as an observation."""

from __future__ import annotations

from types import TracebackType

from devlint.runtime.frames import is_user_code, spot
from devlint.runtime.observation import Observation, Spot
from devlint.semantics import classify

_KINDS = {
    "device_mismatch": "clash",
    "needs_cpu": "host-only",
    "device_unavailable": "no-accelerator",
    "bad_device": "invalid-device",
}
"""Kinds of observation by the category of the error's text."""


def observation_of(error: BaseException) -> Observation:
    """What the error says, at the user's frames that it came through, the innermost first."""
    kind = classify(str(error))
    return Observation(
        kind="error" if kind is None else _KINDS.get(kind.category, "error"),
        spots=tuple(reversed(_spots(error.__traceback__))),
        message=words_of(error),
        judged="device",
        detail=type(error).__name__,
    )


def is_about_devices(error: BaseException) -> bool:
    """Whether an exception is a device's refusal, by the text of it."""
    return classify(str(error)) is not None


def words_of(error: BaseException) -> str:
    """Type and first line: ``RuntimeError: Expected all tensors ...``."""
    first = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _spots(trace: TracebackType | None) -> list[Spot]:
    found: list[Spot] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        place = spot((code, trace.tb_lasti)) if is_user_code(code.co_filename) else None
        if place is not None:
            found.append(place)
        trace = trace.tb_next
    return found
