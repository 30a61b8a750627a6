"""Copies to the host that nothing has waited for: their memory is read before the device has written it.

A copy with ``non_blocking=True`` from an accelerator returns at once, also one into memory that `Tensor.to` pins itself
(ATen, TensorConversions.cpp). On a simulated device the data is there, so only the order of the calls is judged: a read
on the host before the next call that waits. What one stream has done says nothing of another one, and a wait for any of
them is taken for enough.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime.frames import RawSpot, here, spot, user_frames
from devlint.runtime.labels import CPU, Claim, claim_of, make_claims
from devlint.runtime.patching import Patches
from devlint.runtime.recorder.traces import seen

if TYPE_CHECKING:
    from devlint.runtime.recorder.recorder import Recorder

Tensor = torch.Tensor

READS = frozenset((Tensor.numpy, Tensor.__array__, Tensor.tolist, Tensor.__repr__))
"""Reads of the host that run no operation on the tensor itself."""

_aten = torch.ops.aten
_COPIES = {_aten._to_copy.default, _aten.copy_.default}
"""A copy back to the device is queued behind the first one; it waits for it by itself."""


class Arrivals:
    """The copies of one run that are under way."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.open: list[Claim] = []

    def queued(self, tensor: Tensor) -> None:
        """A copy to the host was asked for at the running user frame."""
        raw = here()
        for claim in make_claims(tensor):
            claim.arriving = raw
            self.open.append(claim)

    def waited(self) -> None:
        for claim in self.open:
            claim.arriving = None
        self.open.clear()

    def used(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """An operation runs: it reads its operands on the host."""
        if func in _COPIES or _is_view(func):
            return
        for value in (*args, *kwargs.values()):
            for item in value if isinstance(value, list | tuple) else (value,):
                if isinstance(item, Tensor):
                    self.read(item, func.__name__.partition(".")[0])

    def read(self, tensor: Tensor, operation: str) -> None:
        """The host reads a tensor: tell it if its copy may be under way still."""
        claim = claim_of(tensor)
        if claim is None or claim.arriving is None or self._recorder.local.quiet:
            return
        queued: RawSpot = claim.arriving
        claim.arriving = None
        operand = replace(seen(tensor, CPU, ""), moved=spot(queued))
        message = f"`{operation}` reads on the host what a copy with non_blocking=True may not have written yet"
        frame = next(user_frames(sys._getframe(1)), None)
        self._recorder.say("early-read", frame, (operand,), operation, message)


@cache
def _is_view(func: Any) -> bool:
    """Whether it hands out its operand's memory without looking at it."""
    returned = func._schema.returns
    return bool(returned) and returned[0].alias_info is not None and not returned[0].alias_info.is_write


def asks_not_to_wait(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a transfer or ``copy_`` was told ``non_blocking=True``."""
    return bool(kwargs.get("non_blocking") or (func is Tensor.copy_ and len(args) > 2 and args[2]))


def install(arrivals: Arrivals, patches: Patches) -> None:
    """Whatever makes the host wait for the device ends the copies that were under way."""
    cuda = torch.cuda
    owners: list[tuple[Any, str]] = [
        (torch._C, name) for name in ("_cuda_synchronize", "_accelerator_synchronizeDevice") if hasattr(torch._C, name)
    ]
    owners += [(cls, name) for cls in (cuda.Stream, cuda.Event) for name in ("synchronize", "query")]
    for owner, name in owners:
        patches.set(owner, name, _waiting(arrivals, getattr(owner, name)))


def _waiting(arrivals: Arrivals, true_wait: Any) -> Any:
    def wait(*args: Any, **kwargs: Any) -> Any:
        answer = true_wait(*args, **kwargs)
        if answer is not False:
            arrivals.waited()
        return answer

    return wait
