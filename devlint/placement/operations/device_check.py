"""The device check: judges the operands of an operation and emits an event if their devices do not fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Opaque,
    Tensor,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import (
    DeviceMismatch,
    MismatchOperand,
    PlainAttributeUsed,
    ReadAnywhere,
    UndecidedMismatch,
)
from devlint.placement.domain.excluded_cases import is_no_case
from devlint.placement.domain.lattice import (
    CPU,
    SOME_INDEX,
    UNKNOWN,
    Anchor,
    Choice,
    Device,
    Guard,
    GuardKind,
    Known,
    SameAs,
    Symbol,
    assume,
    batch_of,
    guards_of,
    is_accelerator,
    is_device_by_name,
    is_device_choice,
    is_of_parameter,
    leaves,
)
from devlint.placement.domain.provenance import Step, StepKind, placing_step
from devlint.placement.domain.scope import Scope, Setting
from devlint.placement.operations import generators
from devlint.placement.operations.contracts import (
    came_with_what_was_brought,
    is_part_left_behind,
    on_the_host_by_contract,
    where_brought_from,
)
from devlint.placement.operations.model_parallel import may_be_split, note_split
from devlint.placement.operations.moved_for_one_use import where_left
from devlint.placement.state import first_rounds
from devlint.placement.state.host_reads import host_read
from devlint.placement.state.reads_of_arguments import is_of_a_callable, note_cpu_argument
from devlint.placement.state.streams import note_use, reads_data
from devlint.records import replace
from devlint.semantics import Clash, Dim, Operand, Operation, Rule, Shape

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter
from devlint.placement.operations.operands import Bound, device_of_value, left_behind, provenance_of, same_or_apart
from devlint.placement.operations.results import result_of, shares_memory
from devlint.placement.operations.siblings import is_one_of_several_tensors


def perform(
    interp: Interpreter,
    node: cst.CSTNode,
    operation: Operation,
    bound: Sequence[Bound],
    *,
    callee: str = "operation",
    callee_node: cst.BaseExpression | None = None,
    call: CallSite | None = None,
) -> Value:
    """Check the operands' devices, emit an event for a mismatch, and return the result of the operation."""
    operands = _operands(interp, operation, bound)
    if not operands and operation.name.startswith("operator."):
        # Arithmetic on a value of unknown type gives a value of unknown type.
        return next((b.value for b in bound if isinstance(b.value, Opaque)), NOTHING)
    clash = _judge(interp, operation, operands, node) if len(operands) > 0 else None
    if call is not None and operands and operands[0] is bound[0]:
        first = operands[0]
        generators.note_operation(interp, node, operation, MismatchOperand(first.role, first.value, first.node), call)
    if reads_data(operation):
        for b in operands:
            note_use(interp, node, b.value, b.node)
            if isinstance(b.value, Tensor) and b.value.copied_at is not None and not _writes_only(operation):
                # An operation on the CPU runs at once, with the data that the copy has written so far.
                host_read(interp, node, operation.name.replace("Tensor.", "."), b.value, expression=b.node)
    for b in operands:
        if b.role in operation.free_arguments and isinstance(b.value, (Tensor, Opaque)):
            interp.emit(ReadAnywhere(node, interp.scope, b.value))
    if clash is None:
        tell_undecided(interp, node, operation, operands)
    if clash is None and len(operands) > 1 and may_be_split(interp):
        note_split(interp, node, operation, operands)
    if clash is not None and interp.muted and not interp.is_dead and not first_rounds.is_later(interp):
        interp.note_first_iteration_clash(node)
    if clash is not None:
        _report_all(interp, node, operation, operands, clash, callee, callee_node)
    return result_of(interp, node, operation, bound, operands, clash, call)


def tell_undecided(interp: Interpreter, node: cst.CSTNode, operation: Operation, operands: Sequence[Bound]) -> None:
    """Emit what no mismatch was seen of and what may still be one: operands of the module beside others, and state."""
    kept = _kept_beside_given(interp, operands) or _put_beside_given(interp, operands)
    undecided = kept or _follow_module_or_name(interp, operands)
    if undecided and _needs_one_device(interp, operation, operands, dimensioned=kept):
        met = tuple(MismatchOperand(b.role, b.value, b.node) for b in operands)
        interp.emit(UndecidedMismatch(node, interp.scope, operation, met))
    _tell_of_plain_attributes(interp, node, operation, operands)


def _follow_module_or_name(interp: Interpreter, operands: Sequence[Bound]) -> bool:
    """Whether some operands are on the module's device and others on a device given otherwise."""
    owner = interp.info.owner if interp.info is not None else None
    if owner is None or not owner.is_module or len(operands) < 2:
        return False
    devices = [device_of_value(b.value) for b in operands]
    follow = [isinstance(d, SameAs) and d.symbol.anchor is Anchor.MODULE for d in devices]
    return any(follow) and any(not f and d not in (CPU, UNKNOWN) for f, d in zip(follow, devices, strict=True))


def _kept_beside_given(interp: Interpreter, operands: Sequence[Bound]) -> bool:
    """Whether what an object of another class keeps on an accelerator meets a tensor of the method's caller."""
    owner = interp.info.owner if interp.info is not None else None
    if owner is None or owner.is_module or len(operands) < 2:
        return False
    kept = given = False
    for b in operands:
        device = device_of_value(b.value)
        if isinstance(device, SameAs):
            given |= device.symbol.anchor is Anchor.PARAMETER
        elif device != CPU and is_accelerator(device):
            placed = placing_step(provenance_of(b.value))
            kept |= placed is not None and _is_kept_by_object(interp.scope, placed.scope)
    return kept and given


def _is_kept_by_object(scope: Scope, placed: Scope) -> bool:
    """Whether a constructor, or another method of the same class, put there what a method meets."""
    if placed.setting is Setting.METHOD:
        return placed.class_name == scope.class_name and placed != scope
    return placed.setting is Setting.CONSTRUCTION and scope.setting is not Setting.CONSTRUCTION


def _put_beside_given(interp: Interpreter, operands: Sequence[Bound]) -> bool:
    """Whether what is put on the current accelerator, here or by a helper, meets a tensor of the caller."""
    if len(operands) < 2 or not any(is_of_parameter(device_of_value(b.value)) for b in operands):
        return False
    return any(
        is_accelerator(device_of_value(b.value))
        and (placed_here(interp.scope, b.value) is not None or placed_by_helper(interp.scope, b.value) is not None)
        for b in operands
    )


def placed_here(scope: Scope, value: Value) -> Step | None:
    """What made a value, or moved it last, if the definition itself did."""
    placed = placing_step(provenance_of(value))
    return placed if placed is not None and placed.scope == scope else None


def placed_by_helper(scope: Scope, value: Value) -> Step | None:
    """What made a value, or moved it last, if another function of the same file did."""
    placed = placing_step(provenance_of(value))
    if placed is None or placed.scope.setting is not Setting.FUNCTION or placed.scope.is_nested:
        return None
    return placed if placed.scope != scope and placed.scope.path == scope.path else None


def _was_led_by(value: Value, step: Step) -> bool:
    """Whether a value is where it is because it was brought to what this step made or stored."""
    provenance = value.provenance if isinstance(value, Tensor) else None
    return provenance is not None and any(passed.node is step.node for passed in provenance)


def _tell_of_plain_attributes(
    interp: Interpreter, node: cst.CSTNode, operation: Operation, operands: Sequence[Bound]
) -> None:
    steps = [b.value.provenance.step if isinstance(b.value, Tensor) and b.value.provenance else None for b in operands]
    pairs = list(zip(operands, steps, strict=True))
    # Beside what was brought to its own device, as in `self.table[index.to(self.table.device)]`, it may stay.
    brought = {device_of_value(b.value) for b, step in pairs if step is not None and step.kind is StepKind.MOVED}
    for b, step in pairs:
        if step is None or (brought and device_of_value(b.value) in brought - {UNKNOWN}):
            continue
        if any(_was_led_by(other.value, step) for other in operands if other is not b):
            continue
        if step.kind is StepKind.STORED and step.scope != interp.scope:
            operand = MismatchOperand(b.role, b.value, b.node)
            interp.emit(PlainAttributeUsed(node, interp.scope, operation, operand, step.node))


def _writes_only(operation: Operation) -> bool:
    """Whether the first operand's data is not read: the operation only views or overwrites it."""
    return shares_memory(operation) or operation.name in ("Tensor.copy_", "Tensor.zero_", "Tensor.fill_")


def _needs_one_device(
    interp: Interpreter, operation: Operation, operands: Sequence[Bound], *, dimensioned: bool = False
) -> bool:
    """Whether the operands mismatch if devices that are not equal are different.

    ``dimensioned``: those of which nothing is known are taken to have dimensions.
    """
    given = [_operand(interp, b, device_of_value(b.value)) for b in operands]
    if dimensioned:
        given = [dataclasses.replace(one, dim=_dim_of_part(one.dim)) for one in given]
    return isinstance(semantics.meet(operation, given, same_or_apart, CPU), Clash)


def _operands(interp: Interpreter, operation: Operation, bound: Sequence[Bound]) -> list[Bound]:
    operands = [b for b in bound if _is_operand(interp, operation, b)]
    if any(is_part_left_behind(b, operands) for b in bound if b not in operands):
        operands = [b for b in bound if b in operands or is_part_left_behind(b, operands)]
    if any(map(_is_made_here, operands)):
        # Of a callable that works on tensors: beside one that was made here, what it gives is hardly a number.
        operands = [b for b in bound if b in operands or _is_of_another_callable(interp, b.value)]
    moved = interp.state.moved_groups
    caller_decides = [device for b in operands if isinstance(device := device_of_value(b.value), SameAs)]
    places = [moved[device.symbol.key] for device in caller_decides if device.symbol.key in moved]
    if not places:
        return operands
    # What is combined with an item of a batch, and was itself computed from a moved one, is a tensor too.
    return [b for b in bound if b in operands or (isinstance(b.value, Opaque) and b.value.device in places)]


def _is_of_another_callable(interp: Interpreter, value: Value) -> bool:
    """Whether a callable of unknown type gives it, and not the definition itself, of which it would say nothing."""
    made = value.provenance if isinstance(value, Opaque) and is_of_a_callable(value) else None
    called = made.step.name.rpartition(".")[2] if made is not None else ""
    return made is not None and (interp.info is None or called != interp.info.name)


def _is_made_here(bound: Bound) -> bool:
    """Whether it has dimensions and is on the CPU because a factory was not told where to make it."""
    value = bound.value
    made = value.provenance.step if isinstance(value, Tensor) and value.provenance is not None else None
    on_cpu = isinstance(value, Tensor) and value.device == CPU and value.dim is Dim.NONZERO
    return on_cpu and made is not None and made.kind is StepKind.MADE and made.bare and not made.note


def _is_operand(interp: Interpreter, operation: Operation, bound: Bound) -> bool:
    value = bound.value
    if isinstance(value, Tensor):
        return True
    if not isinstance(value, Opaque):
        return False
    if value.tensorlike or value.moved or bound.strict:
        return True
    if bound.role in operation.cpu_arguments and is_accelerator(value.device):
        # A list of lengths has no device: a value that was moved is a tensor.
        return True
    # A value from a batch of which items were moved is a tensor as they are.
    return left_behind(interp, value)


def _judge(
    interp: Interpreter, operation: Operation, operands: Sequence[Bound], node: cst.CSTNode
) -> Clash[Device] | None:
    """The mismatch of the operands, over all outcomes of the guards of their devices; None if there is none."""
    if len(operands) < 2 and not operation.cpu_arguments:
        return None
    guards = _guards(operands)
    if guards and interp.may_be_a_later_call:
        operands = [_under(b, [g for g in guards if g.kind is GuardKind.FIRST_CALL], holds=False) for b in operands]
        guards = _guards(operands)
    if guards and interp.muted:
        tried = [guard for guard in first_rounds.on_trial(interp) if guard in guards]
        operands = [_under(b, tried) for b in operands] if tried else operands
        guards = _guards(operands)
    if not guards:
        return _meet(interp, operation, operands, [device_of_value(b.value) for b in operands])
    if len(guards) > 3:
        return None
    if guards[0].kind is GuardKind.FIRST_ITERATION and not interp.muted and len(guards) == 1:
        return _judge_iterations(interp, operation, operands, guards[0], node)
    begun = [guard for guard in guards if guard.kind in (GuardKind.FIRST_ITERATION, GuardKind.ON_ACCELERATOR)]
    in_loop = any(guard.kind is GuardKind.FIRST_ITERATION for guard in begun)
    if in_loop and not interp.muted and _clashed_first(interp, begun, node):
        # What a loop begins with, where every test of a device says that there is an accelerator.
        if is_no_case((*interp.arms, *interp.state.left), begun, [True] * len(begun)):
            return None
        return _judge(interp, operation, [_under(b, begun) for b in operands], node)
    clashes: list[Clash[Device] | None] = []
    used: Clash[Device] | None = None
    """A mismatch where every test of a device says that there is an accelerator."""
    for outcome in product((True, False), repeat=len(guards)):
        devices = [_device_where(device_of_value(b.value), guards, outcome) for b in operands]
        found = _meet(interp, operation, operands, devices)
        no_case = is_no_case((*interp.arms, *interp.state.left), guards, outcome)
        if found is not None and (no_case or _decided_on_purpose(operands, devices) or _left_out(operands, devices)):
            found = None
        clashes.append(found)
        used = used or (found if _on_accelerators(guards, outcome) else None)
    found = next((c for c in clashes if c is not None), None)
    # Under one guard, a mismatch in either arm counts, and so does one of any leaf of an operand that has all the
    # guards: it was bound there. The arms of two guards of two operands may exclude each other, and so may an iteration
    # and a condition. Where a device is tested, the mismatch has to be one with an accelerator.
    if len(guards) == 1 or all(clashes):
        return found
    nested = any(set(guards_of(device_of_value(b.value))) == set(guards) for b in operands)
    in_order = any(guard.kind in (GuardKind.FIRST_ITERATION, GuardKind.FIRST_CALL) for guard in guards)
    if nested and not in_order:
        return used
    alone = next((guard for guard in guards if _clash_under_one(interp, operation, operands, guard, node)), None)
    return found if alone is not None else None


def _clash_under_one(
    interp: Interpreter, operation: Operation, operands: Sequence[Bound], guard: Guard, node: cst.CSTNode
) -> bool:
    """Whether what one guard decides clashes with what none decides: the other guards have no part in it.

    ``a if len(a) > 0 else torch.tensor([])`` beside ``x``, whatever becomes of a third operand.
    """
    if guard.kind in (GuardKind.FIRST_ITERATION, GuardKind.FIRST_CALL, GuardKind.ON_ACCELERATOR):
        return False
    decided = [b for b in operands if set(guards_of(device_of_value(b.value))) <= {guard}]
    free = [b for b in decided if not guards_of(device_of_value(b.value))]
    if not free or len(free) == len(decided):
        return False
    return _judge(interp, operation, decided, node) is not None


def _guards(operands: Sequence[Bound]) -> list[Guard]:
    return list(dict.fromkeys(guard for b in operands for guard in guards_of(device_of_value(b.value))))


def _on_accelerators(guards: Sequence[Guard], outcome: Sequence[bool]) -> bool:
    return all(holds for guard, holds in zip(guards, outcome, strict=True) if guard.kind is GuardKind.ON_ACCELERATOR)


def _under(bound: Bound, guards: Sequence[Guard], *, holds: bool = True) -> Bound:
    """The operand where all of some guards hold, or none of them."""
    value = bound.value
    if not isinstance(value, (Tensor, Opaque)):
        return bound
    return replace(bound, value=replace(value, device=_device_where(value.device, guards, [holds] * len(guards))))


def _device_where(device: Device, guards: Sequence[Guard], outcome: Sequence[bool]) -> Device:
    """The device under one outcome of the guards."""
    for guard, holds in zip(guards, outcome, strict=True):
        device = assume(device, guard, holds)
    return device


def _judge_iterations(
    interp: Interpreter, operation: Operation, operands: Sequence[Bound], first: Guard, node: cst.CSTNode
) -> Clash[Device] | None:
    """In a loop: the mismatch in a later iteration, or one recorded in the first; None if there is none.

    The trial round is the first iteration itself, with the first-iteration guards decided.
    """
    later = _meet(interp, operation, operands, [assume(device_of_value(b.value), first, False) for b in operands])
    if later is not None or not _clashed_first(interp, [first], node):
        return later
    return _meet(interp, operation, operands, [assume(device_of_value(b.value), first, True) for b in operands])


def _clashed_first(interp: Interpreter, guards: Sequence[Guard], node: cst.CSTNode) -> bool:
    """Whether the first iteration met a mismatch at a node; a callee is handed what its caller's loop begins with."""
    loops = [guard.key for guard in guards if guard.kind is GuardKind.FIRST_ITERATION]
    own = f"{interp.scope.qualname}:first iteration@"
    of_callers = interp.depth > 0 and not any(key.startswith(own) for key in loops)
    return of_callers or interp.clashed_in_first_iteration(node)


def _decided_on_purpose(operands: Sequence[Bound], devices: Sequence[Device]) -> bool:
    """Whether the CPU arm of a choice of devices is for a caller on the CPU: then there is no mismatch."""
    chosen = [
        device_of_value(b.value)
        for b, device in zip(operands, devices, strict=True)
        if device == CPU and _has_device_choice(device_of_value(b.value))
    ]
    if not chosen or not all(isinstance(device, Known) for device in devices):
        return bool(chosen)
    # ``try_gpu(i)`` falls back if that accelerator does not exist; a device with that index is used only if it does.
    # And where the other arm is on a device that is not known, so is what the condition asks about.
    return any(leaf == UNKNOWN or _is_some_index(leaf) for device in chosen for leaf in leaves(device))


def _left_out(operands: Sequence[Bound], devices: Sequence[Device]) -> bool:
    """Whether one is on the CPU where no device was handed over, and another where that device is: on the CPU as well.

    ``torch.randn(n).to(device or "cpu")`` of a helper beside ``torch.ones(n, device=device)`` of its caller.
    """
    return any(
        device == CPU and any(place != CPU and _stands_in_for(device_of_value(b.value), place) for place in devices)
        for b, device in zip(operands, devices, strict=True)
    )


def _stands_in_for(device: Device, named: Device) -> bool:
    """Whether the CPU, in some choice on the way, stands in for a device by its name that is None."""
    if not isinstance(device, Choice):
        return False
    arms = (device.then, device.otherwise)
    here = device.guard.kind is GuardKind.IS_NONE and CPU in arms and is_device_by_name(named)
    return (here and any(named in leaves(arm) for arm in arms)) or any(_stands_in_for(arm, named) for arm in arms)


def _is_some_index(device: Device) -> bool:
    return isinstance(device, Known) and device.index == SOME_INDEX


def _has_device_choice(device: Device) -> bool:
    return isinstance(device, Choice) and (
        is_device_choice(device) or _has_device_choice(device.then) or _has_device_choice(device.otherwise)
    )


def _meet(
    interp: Interpreter, operation: Operation, operands: Sequence[Bound], devices: Sequence[Device]
) -> Clash[Device] | None:
    places = where_left(interp, operands, where_brought_from(operands, devices))
    given = [_operand(interp, b, device) for b, device in zip(operands, places, strict=True)]
    if list(places) != list(devices):
        given = [dataclasses.replace(operand, dim=_dim_of_part(operand.dim)) for operand in given]
    verdict = semantics.meet(operation, given, interp.relate, CPU)
    if not isinstance(verdict, Clash) or on_the_host_by_contract(interp, verdict, operands, devices):
        return None
    return verdict


def _dim_of_part(dim: Dim) -> Dim:
    """What a model makes of a batch has its dimension, unless an operation takes it away."""
    return Dim.NONZERO if dim is Dim.UNKNOWN else dim


def _operand(interp: Interpreter, bound: Bound, device: Device) -> Operand[Device]:
    value = bound.value
    if isinstance(value, Tensor):
        dim = value.dim
        if dim is Dim.UNKNOWN and left_behind(interp, value) and is_one_of_several_tensors(interp, value.device):
            # Data, as the one beside it that was moved.
            dim = Dim.NONZERO
        return Operand(bound.role, device, dim, value.elements, value.dtype)
    # A value from a loader has a batch dimension, which a reduction takes away; a sample of it may have none.
    batch = batch_of(device)
    has_dimensions = batch is not None and not _is_reduced(bound.node) and not _is_a_sample(bound.node, batch)
    return Operand(bound.role, device, Dim.NONZERO if has_dimensions else Dim.UNKNOWN)


def _is_a_sample(node: cst.CSTNode, batch: Symbol) -> bool:
    """``labels[i]``, of ``for images, labels in loader``."""
    if not isinstance(node, cst.Subscript) or not isinstance(node.value, cst.Name) or len(node.slice) != 1:
        return False
    index = node.slice[0].slice
    counted = isinstance(index, cst.Index) and isinstance(index.value, (cst.Name, cst.Integer))
    # The symbol is named after all that is unpacked.
    items = batch.name.strip("()").replace(",", " ").split()
    return counted and len(items) > 1 and node.value.value in items


def _is_reduced(node: cst.CSTNode) -> bool:
    """``images.sum()``: of all dimensions."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or node.args:
        return False
    operation = semantics.method(node.func.attr.value)
    return operation is not None and operation.shape in (Shape.REDUCTION, Shape.ZERO)


def _report_all(
    interp: Interpreter,
    node: cst.CSTNode,
    operation: Operation,
    operands: Sequence[Bound],
    clash: Clash[Device],
    callee: str,
    callee_node: cst.BaseExpression | None,
) -> None:
    """Emit an event for every offending operand: PyTorch names only one, and each needs a repair of its own."""
    found: Clash[Device] | None = clash
    while found is not None:
        offending = _report(interp, node, operation, operands, found, callee, callee_node)
        rest = [b for b in operands if b.node is not offending.node]
        # Of an indexed tensor the others make no subscript: none of them has to be beside another.
        fits_the_first = operation.rule in _OF_THE_FIRST and rest and rest[0] is not operands[0]
        open_still = 1 < len(rest) < len(operands) and not fits_the_first
        found = _judge(interp, operation, rest, node) if open_still else None
        operands = rest


_OF_THE_FIRST = (Rule.INDEX_READ, Rule.INDEX_WRITE, Rule.INDEX_PUT, Rule.MASKED_FILL)
"""Rules by which each operand is held against the first, and not against the others."""


def _report(
    interp: Interpreter,
    node: cst.CSTNode,
    operation: Operation,
    operands: Sequence[Bound],
    clash: Clash[Device],
    callee: str,
    callee_node: cst.BaseExpression | None,
) -> MismatchOperand:
    met = tuple(MismatchOperand(b.role, b.value, b.node) for b in operands)
    offending, other = _sides(interp, met, clash)
    sides = (met, clash, offending, other, callee, callee_node)
    brings = any(came_with_what_was_brought(interp, device_of_value(b.value)) for b in operands)
    event = DeviceMismatch(node, interp.scope, operation, *sides, arms=interp.arms, brings_to_host=brings)
    interp.emit(event)
    if offending.role in operation.cpu_arguments:
        note_cpu_argument(interp, event)
    return offending


def _sides(
    interp: Interpreter, met: tuple[MismatchOperand, ...], clash: Clash[Device]
) -> tuple[MismatchOperand, MismatchOperand]:
    """The offending operand, created or left on the CPU, and the operand it must agree with."""
    first = met[clash.operand]
    second = met[clash.other] if clash.other is not None else first
    if _strays(interp, second) and not _strays(interp, first):
        return second, first
    return first, second


def _strays(interp: Interpreter, operand: MismatchOperand) -> bool:
    device = device_of_value(operand.value)
    return batch_of(device) is not None or left_behind(interp, operand.value) or CPU in leaves(device)
