"""Optimizers: when they make the state that has to be where the parameters are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from devlint.semantics import tables


@dataclass(frozen=True, slots=True)
class OptimizerInfo:
    """``state``: made in the constructor, by the first step, or by that only if ``momentum`` is given."""

    name: str
    state: Literal["constructor", "step", "momentum"]
    momentum_position: int = 0


@cache
def optimizer(qualified: str) -> OptimizerInfo | None:
    """What is known of a ``torch.optim`` class, by its full name or that of the file that defines it."""
    parts = qualified.split(".")
    if parts[:2] != ["torch", "optim"] or len(parts) > 4:
        return None
    row = tables.row("optimizers", f"torch.optim.{parts[-1]}")
    return None if row is None else OptimizerInfo(qualified, row["state"], row.get("momentum_position", 0))
