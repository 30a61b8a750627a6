"""Contracts of functions about where their arguments are, read from what the functions do themselves."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from devlint.placement.domain.lattice import CPU, Anchor, Device, SameAs, batch_of, is_device_by_name, is_given, leaves
from devlint.placement.domain.provenance import Provenance, Step, StepKind
from devlint.placement.operations.encoded import is_encoded
from devlint.placement.operations.operands import Bound, device_of_value, provenance_of
from devlint.records import replace
from devlint.semantics import Clash

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def on_the_host_by_contract(
    interp: Interpreter, clash: Clash[Device], operands: Sequence[Bound], devices: Sequence[Device]
) -> bool:
    """Whether a value was placed on the CPU on purpose beside an argument: then the function expects CPU arguments.

    It is a mismatch all the same if the value was moved from that very argument, or by a helper from any: what a
    helper expects of its arguments is no contract of its callers. So it is if the function moves something else of
    that argument to the CPU: it does not expect it there.
    """
    sides = [clash.operand, clash.other if clash.other is not None else clash.operand]
    for one, two in (sides, sides[::-1]):
        device = devices[two]
        if devices[one] != CPU or not isinstance(device, SameAs) or device.symbol.anchor is not Anchor.PARAMETER:
            continue
        if came_with_what_was_brought(interp, device) or is_device_by_name(device):
            # What the function itself brought to the device that it is told is no argument as it came.
            return False
        provenance = provenance_of(operands[one].value)
        if provenance is not None and _placed_on_purpose(provenance):
            if _moved_by_helper(interp, provenance) or is_encoded(operands[one].value):
                # A tokenizer has no other place to put what it makes.
                return False
            return not any(step.device == device for step in provenance)
    return False


def came_with_what_was_brought(interp: Interpreter, device: Device) -> bool:
    """Whether it is where an argument is of which the function moves something to the CPU."""
    places = [leaf for leaf in leaves(device) if isinstance(leaf, SameAs)]
    return any(place.symbol.key in interp.state.brought_to_host for place in places)


def where_brought_from(operands: Sequence[Bound], devices: Sequence[Device]) -> Sequence[Device]:
    """The devices, with that of what a call made of a batch as a place of its own where it meets what came from there.

    A batch that nobody has moved may be on the CPU. Who brings one part of a model's result to the CPU, though, says
    that the result is elsewhere, and so are its other parts: ``scores["a"].cpu() * scores["b"]``.
    """
    brought = [b for b, device in zip(operands, devices, strict=True) if device == CPU]
    return [
        SameAs(replace(symbol, anchor=Anchor.EXPRESSION))
        if (symbol := batch_of(device)) is not None and is_part_left_behind(b, brought)
        else device
        for b, device in zip(operands, devices, strict=True)
    ]


def is_part_left_behind(bound: Bound, others: Sequence[Bound]) -> bool:
    """Whether it is as a call made it of a batch, and another operand is a part of that result, brought to the CPU."""
    provenance = provenance_of(bound.value)
    if provenance is None or provenance.step.kind is not StepKind.COMPUTED:
        return False
    calls = (_result_brought_over(provenance_of(b.value)) for b in others if device_of_value(b.value) == CPU)
    return any(call is not None and call.node is provenance.step.node for call in calls)


def _result_brought_over(provenance: Provenance | None) -> Step | None:
    """The call whose result was brought to the CPU on the way."""
    steps = iter(provenance or ())
    moved = next((step for step in steps if step.kind in (StepKind.MOVED, StepKind.COMPUTED)), None)
    if moved is None or moved.kind is not StepKind.MOVED:
        return None
    before = next(steps, None)
    return before if before is not None and before.kind is StepKind.COMPUTED else None


def _moved_by_helper(interp: Interpreter, provenance: Provenance) -> bool:
    moved = provenance.find(StepKind.MOVED)
    if moved is None or moved.scope == interp.scope:
        return False
    before = itertools.takewhile(lambda step: step is not moved, reversed(tuple(provenance)))
    return any(step.device is not None and is_given(step.device) for step in before)


def _placed_on_purpose(provenance: Provenance) -> bool:
    defaulted = stored = False
    for step in provenance:
        defaulted = defaulted or step.defaulted
        if step.kind is StepKind.MOVED:
            return True
        stored = stored or step.kind is StepKind.STORED
        if step.kind is StepKind.MADE:
            # Where a parameter says that the call leaves out, nobody has said anything. A library that keeps tables in
            # an object takes no device for them. What a constructor makes where its module is built is on the CPU
            # because a module is built there.
            left_out = defaulted and isinstance(step.device, SameAs)
            built = stored and isinstance(step.device, SameAs) and step.device.symbol.anchor is Anchor.MODULE
            return not (step.bare or step.of_object or left_out or built)
    return False
