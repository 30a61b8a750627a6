"""Models that a call hands over where they were moved, and batches that it hands over as a loader gave them.

``evaluate(model, loader)`` after ``model.to(device)``, ``self.val_step(batch)`` where ``self.model`` was moved: the
callee alone cannot tell whether the two are apart, and the call can.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.summaries import arguments_of
from devlint.placement.declarations.symbol_keys import symbol_key
from devlint.placement.domain.abstract_values import Argument, Module, Opaque, Tensor, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import CallersModuleCalled, DeviceMismatch, HostRead
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Device,
    GuardKind,
    assume,
    batch_of,
    guards_of,
    is_of_module,
    leaves,
    placed,
)
from devlint.placement.domain.provenance import Step, StepKind, was_moved
from devlint.placement.operations.operands import device_of_value
from devlint.placement.state.given_values import is_of_a_loader, keys_of
from devlint.placement.syntax.nodes import code_of, parameters_of, path_of
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.interpreter.interpreter import Interpreter


def handed_values(site: CallSite) -> Iterator[Value]:
    """What stands as an argument of its own."""
    return (one.value for one in site.arguments if not one.star)


def moved_models(interp: Interpreter, values: Iterable[Value]) -> list[Step]:
    """The transfers of the modules among values, each to another place than the CPU."""
    if interp.in_cpu_world or interp.muted:
        return []
    models = (one for one in values if isinstance(one, Module))
    moves = (
        one.provenance.find(StepKind.MOVED)
        for one in models
        if one.provenance is not None and one.device not in (CPU, UNKNOWN) and was_moved(one.provenance)
    )
    return [move for move in moves if move is not None]


def as_loaded(interp: Interpreter, site: CallSite) -> dict[str, list[Argument]]:
    """The arguments that a loader handed out, and that nobody has moved, by the keys of their batches."""
    found: dict[str, list[Argument]] = {}
    for argument in site.arguments if not (interp.in_cpu_world or interp.muted) else ():
        value = argument.value
        if argument.star or not isinstance(value, (Tensor, Opaque)) or not is_of_a_loader(value):
            continue
        batch = batch_of(value.device)
        if batch is not None:
            found.setdefault(batch.key, []).append(argument)
    return found


def stayed_as_loaded(
    event: DeviceMismatch, loaded: Mapping[str, Sequence[Argument]], node: cst.Call, info: FunctionInfo
) -> cst.CSTNode | None:
    """Where an item of such a batch was handed over, if it is what stayed behind.

    The call, of a batch as a whole: it is unpacked, and to be moved, in the callee.
    """
    for operand in (event.offending, event.other):
        batch = batch_of(device_of_value(operand.value))
        handed = loaded.get(batch.key, ()) if batch is not None else ()
        if batch is None or not handed:
            continue
        if any(code_of(one.node) == batch.name for one in handed):
            return node
        names = [one.name.value for one in parameters_of(info.header)[1 if info.has_receiver else 0 :]]
        by_name = dict(zip(names, node.args, strict=False))
        given = by_name.get(code_of(operand.node))
        return next((one.node for one in handed if given is not None and one.node is given.value), handed[0].node)
    return None


def meets_model(event: DeviceMismatch, moves: Sequence[Step], places: Mapping[str, Device]) -> bool:
    """Whether such a model, or what it computed, meets what is on the CPU in the callee, or was loaded there."""
    sides = (event.offending.value, event.other.value)
    return any(
        step is move
        for value, other in (sides, sides[::-1])
        if isinstance(value, (Tensor, Opaque)) and isinstance(other, (Tensor, Opaque))
        if _begins_on_cpu(placed(other.device, places)) or batch_of(device_of_value(other)) is not None
        for step in value.provenance or ()
        for move in moves
    )


def names_of_models(given: Iterable[tuple[str, Value]], kept: Iterable[str], moves: Sequence[Step]) -> frozenset[str]:
    """The names by which the callee calls such models: its parameters, and the attributes that keep one."""
    placed_there = {id(move) for move in moves}
    names = {
        name
        for name, value in given
        if isinstance(value, Module) and value.provenance is not None
        if id(value.provenance.find(StepKind.MOVED)) in placed_there
    }
    return frozenset({*names, *(f"self.{attribute}" for attribute in kept)})


def meets_in_model(event: DeviceMismatch, names: Collection[str]) -> bool:
    """Whether the callee hands such a model what is on the CPU, and its own code meets that: ``encoder(x, hidden)``."""
    call = event.calls[0][0] if event.calls else None
    if not isinstance(call, cst.Call) or path_of(call.func) not in names:
        return False
    sides = [device_of_value(operand.value) for operand in (event.offending, event.other)]
    return any(map(_begins_on_cpu, sides)) and any(map(is_of_module, sides))


def _begins_on_cpu(device: Device) -> bool:
    """Whether it is the CPU, also where only the first iteration of a loop meets it there: that one fails."""
    for guard in guards_of(device):
        if guard.kind is GuardKind.FIRST_ITERATION:
            device = assume(device, guard, True)
    return device == CPU


def read_with_model(
    interp: Interpreter, info: FunctionInfo, site: CallSite, receiver: Value | None, reads: Sequence[HostRead]
) -> Iterator[HostRead]:
    """The reads by numpy in the callee of what is where such a model is, which alone it only guesses to be a tensor.

    In its own file they are judged together with what the callee alone shows.
    """
    program = interp.program.holder(info)
    if program is None or not reads:
        return
    given = arguments_of(info, site, receiver, interp.program)
    models = [(symbol_key(info, name), value.device) for name, value in given if isinstance(value, Module)]
    keys, places = {key for key, _ in models}, {device for _, device in models}
    here = program is interp.program
    known = [one for one in program.events_of(info) if isinstance(one, HostRead)] if here else []
    known += () if here else program.host_reads_of(info).values()
    for event in reads:
        if not event.wants_cpu or event.in_flight or event.argument or CPU in leaves(event.value.device):
            continue
        own = next((one.value for one in known if one.node is event.node), None)
        if here and own is not None and not keys.isdisjoint(keys_of(own)):
            yield event
            continue
        guessed = not here and not isinstance(own, Tensor)
        if guessed and isinstance(event.value, Tensor) and event.value.device in places:
            yield event


def note_parted(interp: Interpreter, loaded: Collection[str], inner: Interpreter) -> None:
    """Note that a helper moved a part of such a batch: the rest, which it may give back, stays."""
    ends = [state for state in (inner.env, *inner.exits.states) if state is not None]
    for key in loaded:
        targets = {state.moved_groups.get(key) for state in ends}
        target = targets.pop() if len(targets) == 1 else None
        if target is not None and key not in interp.state.moved_groups:
            interp.state.moved_groups[key] = placed(target, inner.places)


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
