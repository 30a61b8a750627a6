"""Items of one batch that a call hands over, some of them moved and others not: they may meet in the callee.

x = x.to(device)
loss = self._step(x, y)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.evidence_conventions import draws_from_a_loader
from devlint.placement.domain.abstract_values import Argument, Opaque, Tensor, innermost_of
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import DeviceMismatch, Moved
from devlint.placement.domain.lattice import batch_of
from devlint.placement.domain.provenance import Step
from devlint.placement.operations.operands import device_of_value, moved_beside

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

Left = tuple[Step, cst.CSTNode]
"""How an item came with its batch, and the argument that it is."""


def left_and_moved(interp: Interpreter, site: CallSite) -> Iterator[tuple[Argument, Tensor | Opaque, cst.CSTNode]]:
    """The arguments that stayed with their batch, each with one that is where another item was moved, and its node.

    That may be an item itself, what a model made of it, or one of several in a list.
    """
    for argument in site.arguments:
        place = moved_beside(interp, argument.value)
        if place is None or argument.star:
            continue
        for other in site.arguments:
            moved = next((one for one in innermost_of(other.value) if device_of_value(one) == place), None)
            if isinstance(moved, (Tensor, Opaque)):
                yield argument, moved, other.node
                break


def parted_items(interp: Interpreter, site: CallSite) -> list[Left]:
    """The arguments that are where their batch came, beside others of it that are elsewhere, or if a loader drew it."""
    drawn = [
        (argument.value.device, argument.value.provenance.first, argument.node)
        for argument in site.arguments
        if isinstance(argument.value, (Tensor, Opaque)) and argument.value.provenance is not None and not argument.star
    ]
    parted = {batch_of(first.device) for device, first, _ in drawn if batch_of(device) is None} - {None}
    places = {device for device, _, _ in drawn}
    return [
        (first, argument)
        for device, first, argument in drawn
        if (batch := batch_of(device)) is not None
        if batch in parted or interp.state.moved_groups.get(batch.key) in places or draws_from_a_loader(batch.source)
    ]


def met_by(event: DeviceMismatch, left: Sequence[Left], call: cst.Call, inner: Interpreter) -> cst.CSTNode | None:
    """The argument that a mismatch in the callee is about; the whole ``call`` where the callee leaves it behind itself.

    ``inner`` evaluated the callee. Where it moves some items of what a loader drew, the others are left there.
    """
    steps = list(_stayed(event))
    found = {id(node): node for step in steps for first, node in left if step is first}
    drawn = {batch_of(device_of_value(operand.value)) for operand in (event.offending, event.other)} - {None}
    moved = {batch_of(device_of_value(one.receiver)) for one in inner.events if isinstance(one, Moved) and one.moves}
    if found and drawn & moved:
        return call
    # Of several that came in one step, nothing tells which of them it is.
    return next(iter(found.values())) if len(found) == 1 else None


def _stayed(event: DeviceMismatch) -> Iterator[Step]:
    for operand in (event.offending, event.other):
        value = operand.value
        if isinstance(value, (Tensor, Opaque)) and batch_of(value.device) is not None:
            yield from value.provenance or ()
