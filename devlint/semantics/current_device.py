"""Calls that use the current device unless an argument names another: streams and synchronisation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from devlint.semantics import tables


@dataclass(frozen=True, slots=True)
class OnCurrentDevice:
    """``position`` is that of the argument ``device``; ``makes_stream``: the call makes a new stream there."""

    name: str
    position: int
    makes_stream: bool


@cache
def on_current_device(qualified: str) -> OnCurrentDevice | None:
    """The facts about such a call by its full name; None for other names."""
    row = tables.row("current_device", qualified)
    return None if row is None else OnCurrentDevice(qualified, row["position"], row.get("makes_stream", False))
