"""Collectives: calls that send tensors between processes; a backend may support only one kind of device."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from devlint.semantics import tables

_ON_HOST = ("gloo", "mpi", "ucc")
"""Backends that carry CPU tensors (the table of backends in PyTorch's documentation of torch.distributed)."""

DEFAULT_GROUPS = frozenset({"torch.distributed.group.WORLD", "torch.distributed.GroupMember.WORLD"})
"""The group of all processes: ``init_process_group`` sets its backend (torch/distributed/distributed_c10d.py)."""


@dataclass(frozen=True, slots=True)
class Collective:
    """``tensors``: the parameters for the tensors sent or received, with their positions.

    ``group`` is the position of the process group; None if the call takes none. ``asked_by`` is the keyword by which
    the call is asked to send anything; empty where it always does.
    """

    name: str
    tensors: tuple[tuple[str, int], ...]
    group: int | None
    asked_by: str = ""


@cache
def collective(qualified: str) -> Collective | None:
    """The facts about a collective by its full name; None for other names."""
    row = tables.row("collectives", qualified)
    return (
        None
        if row is None
        else Collective(qualified, tuple(row["tensors"].items()), row.get("group"), row.get("asked_by", ""))
    )


def carries_cpu_tensors(backend: str | None) -> bool:
    """Whether a process group of this backend takes CPU tensors. Without a name every device gets a backend."""
    return backend is None or any(name in backend.lower() for name in _ON_HOST)
