"""Where an entry runs: the device asked for, another index while that one is current, and no accelerator at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from devlint.runtime.inputs import BadEntry

ACCELERATORS = ("cuda", "xpu", "mps")
"""The kinds of accelerator, as `torch.device` names them; what they are like is in ``simulated/kinds.py``."""


class Placement(Enum):
    """What a rule may want an entry to run on."""

    FIRST = "first"
    """On the device asked for, which is the current one."""
    SECOND = "second"
    """On the next index while the first is current."""
    CPU = "cpu"
    """In a process that sees no accelerator."""


@dataclass(frozen=True, slots=True)
class Wish:
    """``--device``: which machine, and the index of its device that comes first."""

    machine: str
    """``auto``, ``cuda`` or ``sim``."""
    index: int = 0
    kind: str = "cuda"
    """One of ACCELERATORS; the others than CUDA are simulated."""

    def device(self, placement: Placement) -> str:
        """The name of the device that an entry is put on."""
        if placement is Placement.CPU:
            return "cpu"
        return f"{self.kind}:{self.index + (placement is Placement.SECOND)}"


def parse_device(text: str) -> Wish:
    """``auto``, ``cuda``, ``cuda:1``, ``sim``, ``sim:1``, ``sim-xpu``, ``sim-xpu:1``, ``sim-mps``. Raises BadEntry."""
    match = re.fullmatch(r"(auto|cuda|sim)(?:(?<=sim)-(xpu|mps))?(?::(\d{1,2}))?", text)
    if match is None or (match[3] and (match[1] == "auto" or match[2] == "mps")):
        raise BadEntry(f"--device {text}: expected auto, cuda, cuda:N, sim, sim:N, sim-xpu, sim-xpu:N or sim-mps")
    return Wish(match[1], int(match[3] or 0), match[2] or "cuda")


def parse_placements(text: str) -> tuple[Placement, ...] | None:
    """``first,second,cpu`` in that order, ``all``; None for ``auto``: those that the findings' rules want."""
    if text == "auto":
        return None
    if text == "all":
        return tuple(Placement)
    wanted = {name.strip() for name in text.split(",")}
    known = {placement.value: placement for placement in Placement}
    if not wanted <= known.keys():
        raise BadEntry(f"--placements {text}: expected auto, all, or some of {', '.join(known)} joined by commas")
    return tuple(placement for name, placement in known.items() if name in wanted)
