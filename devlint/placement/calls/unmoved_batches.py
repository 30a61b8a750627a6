"""A model that was moved, called with what a loader hands out: loaders collate on the CPU, so both have to be moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.module_inputs import tell_apart, was_moved
from devlint.placement.calls.module_wrappers import WRAPPERS
from devlint.placement.declarations.brought_over import is_brought_over
from devlint.placement.declarations.evidence_conventions import draws_from_a_loader
from devlint.placement.domain.abstract_values import Argument, Kind, Module, Opaque, Tensor
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import MismatchOperand
from devlint.placement.domain.lattice import CPU, UNKNOWN, Device, batch_of
from devlint.placement.syntax.nodes import parameters_of
from devlint.semantics import Dim

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def meet_unmoved_batch(interp: Interpreter, node: cst.Call, model: Opaque | Module, site: CallSite) -> None:
    """``model(x)`` after ``model.to(d)``, where ``x`` came with a batch and was not moved."""
    if interp.in_cpu_world or not was_moved(model) or model.device in (CPU, UNKNOWN):
        return
    if _brings_its_inputs(model, site):
        return
    left = next(_left_behind(interp, model.device, site), None)
    if left is None:
        return
    own = Tensor(model.device, Dim.NONZERO, kind=Kind.PARAMETER, provenance=model.provenance)
    sides = (MismatchOperand("module", own, node.func), MismatchOperand("input", left.value, left.node))
    tell_apart(interp, node, sides, 1, node.func)


def _brings_its_inputs(model: Opaque | Module, site: CallSite) -> bool:
    if isinstance(model, Module) and WRAPPERS.get(model.type_name) == "scatters":
        return True
    forward = model.info.method("forward") if model.info is not None else None
    if forward is None:
        return False
    names = [parameter.name.value for parameter in parameters_of(forward.node)[1:]]
    return any(is_brought_over(forward.node, name) for name in names[: max(1, len(site.arguments))])


def _left_behind(interp: Interpreter, place: Device, site: CallSite) -> Iterator[Argument]:
    """Items of a loader's batch that nobody moved, and whose batch went nowhere but to the model's place."""
    for argument in site.arguments:
        batch = batch_of(argument.value.device) if isinstance(argument.value, (Opaque, Tensor)) else None
        if batch is None or not draws_from_a_loader(batch.source):
            continue
        if interp.state.moved_groups.get(batch.key, place) == place:
            yield argument
