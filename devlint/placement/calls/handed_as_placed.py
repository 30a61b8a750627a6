"""Models that a call hands over where they were moved, and batches that it hands over as a loader gave them.

``evaluate(model, loader)`` after ``model.to(device)``, ``self.val_step(batch)`` where ``self.model`` was moved: the
callee alone cannot tell whether the two are apart, and the call can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Module, Opaque, Tensor, Value, innermost_of
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import CallersModuleCalled, DeviceMismatch
from devlint.placement.domain.lattice import CPU, UNKNOWN, Device, batch_of, placed
from devlint.placement.domain.provenance import Step, StepKind, was_moved
from devlint.placement.operations.operands import device_of_value
from devlint.placement.operations.siblings import note_moved_part
from devlint.placement.state.given_values import is_of_a_loader
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.interpreter.interpreter import Interpreter


def moved_models(interp: Interpreter, site: CallSite) -> list[Step]:
    """The transfers of the modules that a call hands over, each to another place than the CPU."""
    if interp.in_cpu_world or interp.muted:
        return []
    models = (one.value for one in site.arguments if isinstance(one.value, Module) and not one.star)
    moves = (
        one.provenance.find(StepKind.MOVED)
        for one in models
        if one.provenance is not None and one.device not in (CPU, UNKNOWN) and was_moved(one.provenance)
    )
    return [move for move in moves if move is not None]


def as_loaded(interp: Interpreter, site: CallSite) -> frozenset[str]:
    """The keys of the batches of which a call hands over what a loader gave, and nobody has moved."""
    if interp.in_cpu_world or interp.muted:
        return frozenset()
    handed = (one.value for one in site.arguments if not one.star)
    drawn = (batch_of(one.device) for one in handed if isinstance(one, (Tensor, Opaque)) and is_of_a_loader(one))
    return frozenset(batch.key for batch in drawn if batch is not None)


def meets_as_loaded(event: DeviceMismatch, loaded: frozenset[str]) -> bool:
    """Whether an item of such a batch is what stayed behind."""
    stayed = (batch_of(device_of_value(one.value)) for one in (event.offending, event.other))
    return any(batch.key in loaded for batch in stayed if batch is not None)


def meets_model(event: DeviceMismatch, moves: Sequence[Step], places: Mapping[str, Device]) -> bool:
    """Whether such a model, or what it computed, meets what is on the CPU in the callee, or was loaded there."""
    sides = (event.offending.value, event.other.value)
    return any(
        step is move
        for value, other in (sides, sides[::-1])
        if isinstance(value, (Tensor, Opaque)) and isinstance(other, (Tensor, Opaque))
        if placed(other.device, places) == CPU or batch_of(device_of_value(other)) is not None
        for step in value.provenance or ()
        for move in moves
    )


def note_parted(interp: Interpreter, loaded: frozenset[str], result: Value | None) -> None:
    """Note that a helper moved a part of such a batch, or had it moved by a model, and gives that: the rest stays."""
    for one in innermost_of(result) if result is not None and loaded else ():
        if not isinstance(one, (Tensor, Opaque)) or one.provenance is None or one.device in (CPU, UNKNOWN):
            continue
        batch = batch_of(one.provenance.first.device) if was_moved(one.provenance) else None
        if batch is not None and batch.key in loaded and batch_of(one.device) is None:
            note_moved_part(interp, batch, one.device)


def is_told_in_callee(interp: Interpreter, info: FunctionInfo, event: DeviceMismatch) -> bool:
    """Whether the callee alone shows a mismatch, or that it is called with what nobody brings to the caller's model."""
    program = interp.program.holder(info)
    for known in program.events_of(info) if program is not None else ():
        if isinstance(known, DeviceMismatch) and known.node is event.node:
            return True
        if isinstance(known, CallersModuleCalled) and known.node is event.node:
            made = not any(batch_of(device_of_value(one.value)) for one in known.inputs)
            if made and known.scope.role is Role.LIBRARY:
                return True
    return False
