"""What gives the rank of a process among those of all machines, by the name a program uses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from devlint.semantics import tables


@dataclass(frozen=True, slots=True)
class RankCall:
    """A function that gives the rank; ``group``: its argument for a smaller set of processes, "" if it takes none."""

    group: str


@cache
def rank_call(qualified: str) -> RankCall | None:
    """``torch.distributed.get_rank``; None for any other function."""
    row = tables.row("ranks", qualified)
    return RankCall(row.get("group", "")) if row is not None and row["read"] == "call" else None


@cache
def is_rank_attribute(qualified: str) -> bool:
    """``accelerate.Accelerator.process_index``: the class or module, and the attribute."""
    return _is_read_as("attribute", qualified)


@cache
def is_rank_variable(name: str) -> bool:
    """``RANK``: a variable of the environment that launchers set."""
    return _is_read_as("environment", name)


def _is_read_as(kind: str, key: str) -> bool:
    row = tables.row("ranks", key)
    return row is not None and row["read"] == kind
