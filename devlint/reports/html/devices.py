"""One colour for one kind of place, the same on the whole page."""

from __future__ import annotations

import re

KINDS = {
    "cpu": "CPU",
    "acc": "accelerator",
    "acc1": "another accelerator",
    "rel": "where the caller or the module is",
    "none": "not told",
}
"""The classes of the style sheet, and what their colours stand for."""

_ACCELERATOR = re.compile(r"(?:cuda|xpu|mps|hpu|npu|xla|mtia|privateuseone)(?::(\d+))?")


def kind_of(device: str | None) -> str:
    """Which of :data:`KINDS` a device of a trace or an operand is."""
    if device is None:
        return "none"
    if device == "cpu":
        return "cpu"
    accelerator = _ACCELERATOR.fullmatch(device)
    if accelerator:
        return "acc1" if accelerator[1] not in (None, "0") else "acc"
    return "rel"
