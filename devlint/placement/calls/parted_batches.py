"""Items of one batch that a call hands over, some of them moved and others not: they may meet in the callee.

x = x.to(device)
loss = self._step(x, y)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from devlint.placement.domain.abstract_values import Opaque, Tensor
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import DeviceMismatch
from devlint.placement.domain.lattice import batch_of
from devlint.placement.domain.provenance import Step

Left = tuple[Step, cst.CSTNode]
"""How an item came with its batch, and the argument that it is."""


def parted_items(site: CallSite) -> list[Left]:
    """The arguments that are where their batch came, beside others of it that are elsewhere."""
    drawn = [
        (argument.value.device, argument.value.provenance.first, argument.node)
        for argument in site.arguments
        if isinstance(argument.value, (Tensor, Opaque)) and argument.value.provenance is not None and not argument.star
    ]
    parted = {batch_of(first.device) for device, first, _ in drawn if batch_of(device) is None} - {None}
    return [(first, node) for device, first, node in drawn if batch_of(device) in parted] if parted else []


def met_by(event: DeviceMismatch, left: Sequence[Left]) -> cst.CSTNode | None:
    """The argument that a mismatch in the callee is about."""
    found = [node for step in _stayed(event) for first, node in left if step is first]
    # Of several that came in one step, nothing tells which of them it is.
    return found[0] if len({id(node) for node in found}) == 1 else None


def _stayed(event: DeviceMismatch) -> Iterator[Step]:
    for operand in (event.offending, event.other):
        value = operand.value
        if isinstance(value, (Tensor, Opaque)) and batch_of(value.device) is not None:
            yield from value.provenance or ()
