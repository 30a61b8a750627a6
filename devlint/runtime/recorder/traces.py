"""Where a storage's content comes from: its birth, its last transfer, and whether a repair went into it."""

from __future__ import annotations

import sys

import torch

from devlint.runtime.frames import RawSpot, spot, user_frames
from devlint.runtime.generators import birth_of
from devlint.runtime.keeping import is_kept_well, kept_at
from devlint.runtime.labels import claim_of, make_claims
from devlint.runtime.names import name_of
from devlint.runtime.observation import Seen

Tensor = torch.Tensor
Generator = torch._C.Generator
MOST_BIRTHS = 8


class Trace:
    """Held by the storage's claim; shared by nothing, so that a transfer may change it.

    ``births``: where the values were created that put this one on its device, at most `MOST_BIRTHS`. ``hosted``: the
    program itself brought the value, or one that it is made of, from an accelerator to the host. ``of_read``: the
    program may have made it, or one that it is made of, of numbers that it had read there. ``told``: the program named
    the CPU for it, or for one that it is made of. ``at`` and ``on``: the number of the work that wrote it last, and of
    that work's stream; 0 is over for everybody. ``queued``: a copy that did not wait writes it.
    """

    __slots__ = ("at", "births", "hosted", "made", "moved", "of_read", "on", "queued", "repaired", "told")

    def __init__(
        self,
        births: tuple[RawSpot, ...] = (),
        made: RawSpot | None = None,
        moved: RawSpot | None = None,
        repaired: bool = False,
        hosted: bool = False,
        at: int = 0,
        on: int = 0,
        told: bool = False,
        of_read: bool = False,
    ) -> None:
        self.births = births
        self.made = made
        self.moved = moved
        self.repaired = repaired
        self.hosted = hosted
        self.at = at
        self.on = on
        self.queued = False
        self.told = told
        self.of_read = of_read


def trace_of(tensor: Tensor) -> Trace | None:
    claim = claim_of(tensor)
    trace: Trace | None = None if claim is None else claim.trace
    return trace


def set_trace(tensor: Tensor, trace: Trace) -> None:
    for claim in make_claims(tensor):
        claim.trace = trace


def seen(operand: Tensor | Generator, device: torch.device, role: str, named: str = "") -> Seen:
    """The operand as it is reported, with the name the innermost user frame has for it unless it is given."""
    frame = None if named else next(user_frames(sys._getframe(1)), None)
    name = named or name_of(operand, frame) or role
    if not isinstance(operand, Tensor):
        born = spot(birth_of(operand))
        return Seen(name, str(device), (), "", born=born, births=() if born is None else (born,))
    trace = trace_of(operand) or Trace()
    births = tuple(s for s in map(spot, trace.births) if s is not None)
    made = spot(trace.made)
    return Seen(
        name=name,
        device=str(device),
        shape=_sizes(operand),
        dtype=str(operand.dtype).removeprefix("torch."),
        born=births[0] if births else None,
        moved=spot(trace.moved),
        made=made if made is not None and made not in births else None,
        births=births,
        repaired=trace.repaired,
        kept_well=is_kept_well(name, frame),
        kept=spot(kept_at(name, frame)),
    )


def _sizes(tensor: Tensor) -> tuple[int, ...]:
    """Its shape; empty for a nested tensor, which has no one size in each dimension."""
    return () if tensor.is_nested else tuple(int(n) for n in tensor.shape)
