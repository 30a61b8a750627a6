"""A model that was moved, called with what a loader hands out: loaders collate on the CPU, so both have to be moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.module_inputs import brings_its_inputs, tell_apart, was_moved
from devlint.placement.declarations.evidence_conventions import draws_from_a_loader
from devlint.placement.domain.abstract_values import Argument, Kind, Module, Opaque, Tensor
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import MismatchOperand
from devlint.placement.domain.lattice import CPU, UNKNOWN, Device, batch_of
from devlint.semantics import Dim

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def meet_unmoved_batch(interp: Interpreter, node: cst.Call, model: Opaque | Module, site: CallSite) -> None:
    """``model(x)`` after ``model.to(d)``, where ``x`` came with a batch and was not moved."""
    if interp.in_cpu_world or not was_moved(model) or model.device in (CPU, UNKNOWN):
        return
    if brings_its_inputs(interp, model, site):
        return
    left = next(_left_behind(interp, model.device, site), None)
    if left is None:
        return
    own = Tensor(model.device, Dim.NONZERO, kind=Kind.PARAMETER, provenance=model.provenance)
    sides = (MismatchOperand("module", own, node.func), MismatchOperand("input", left.value, left.node))
    tell_apart(interp, node, sides, 1, node.func)


def _left_behind(interp: Interpreter, place: Device, site: CallSite) -> Iterator[Argument]:
    """Items of a loader's batch that nobody moved, and whose batch went nowhere but to the model's place."""
    for argument in site.arguments:
        batch = batch_of(argument.value.device) if isinstance(argument.value, (Opaque, Tensor)) else None
        if batch is None or not draws_from_a_loader(batch.source):
            continue
        if interp.state.moved_groups.get(batch.key, place) == place:
            yield argument
