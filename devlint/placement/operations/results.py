"""Results: the value that an operation on tensors returns, and its device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_values import (
    NOTHING,
    Constant,
    Container,
    Evidence,
    Host,
    Kind,
    Opaque,
    Tensor,
    UnknownValue,
    Value,
    innermost_of,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Choice,
    Device,
    GuardKind,
    Unknown,
    is_of_parameter,
    leaves,
)
from devlint.placement.domain.provenance import StepKind
from devlint.placement.operations.dimensions import ALONG_A_DIMENSION, bare_name, dimensions
from devlint.placement.operations.operands import Bound, device_of_value, left_behind, provenance_of
from devlint.placement.state.host_reads import host_read
from devlint.records import replace
from devlint.semantics import Clash, Dim, DType, Elements, Operation, Result, Shape, library_models

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def result_of(
    interp: Interpreter,
    node: cst.CSTNode,
    operation: Operation,
    bound: Sequence[Bound],
    operands: Sequence[Bound],
    clash: Clash[Device] | None,
    call: CallSite | None,
) -> Value:
    match operation.result:
        case Result.HOST:
            # Shape, dtype and number of elements are known on the host without the data.
            for b in operands[:1] if operation.synchronises else ():
                host_read(interp, node, operation.name, b.value, expression=b.node)
            return Host(number=True)
        case Result.DTYPE:
            return Host(is_dtype=True)
        case Result.NOTHING:
            return NOTHING
        case _:
            pass
    if not operands:
        return _of_several(bound) if call is None else _unplaced(operation, bound, call)
    tensor = _placed_result(interp, operation, bound, operands, clash, call)
    if _gives_tuple(operation, call):
        if _gives_indices(operation):
            tensor = replace(tensor, dtype=operation.result_dtype)
        return Container((), None, tensor, "tuple")
    return tensor


def _unplaced(operation: Operation, bound: Sequence[Bound], call: CallSite) -> Value:
    """``torch.sqrt(self.variance)``: a tensor, wherever that is; nothing is known of one made of numbers alone."""
    found = _of_several(bound)
    if found != NOTHING or not operation.name.startswith("torch.") or call.unpacks:
        return found
    given = [part for argument in call.arguments for part in innermost_of(argument.value)]
    if not any(isinstance(one, (UnknownValue, Opaque)) for one in given):
        return NOTHING
    tensor = Tensor(UNKNOWN, evidence=Evidence.LIKELY)
    return Container((), None, tensor, "tuple") if _gives_tuple(operation, call) else tensor


def _of_several(bound: Sequence[Bound]) -> Value:
    """``torch.cat(batch.parts)`` of what is not known to be a list of tensors: the result is one, where they are."""
    lists = [b.value for b in bound if not b.direct and isinstance(b.value, Opaque)]
    devices = {value.device for value in lists}
    if len(devices) != 1 or len(lists) < len(bound):
        return NOTHING
    return Tensor(lists[0].device, evidence=Evidence.LIKELY, provenance=lists[0].provenance)


def _gives_tuple(operation: Operation, call: CallSite | None) -> bool:
    """Whether the result is a tuple: ``x.max(dim)`` and ``torch.where(mask)``, but not ``torch.max(x, y)``."""
    if not operation.tuple_with and not operation.tuple_without:
        return operation.returns_tuple
    if call is None:
        return False
    parameters = [parameter for parameter in operation.parameters if not parameter.keyword_only]
    if operation.name.startswith("Tensor."):
        parameters = parameters[1:]
    given = {argument.keyword: argument.value for argument in call.arguments if argument.keyword is not None}
    asking = {name for name, value in given.items() if not _declines(value)}
    for parameter, argument in zip(parameters, call.positional, strict=False):
        given[parameter.name] = argument.value
        if not _declines(argument.value) and not isinstance(argument.value, (Tensor, Opaque)):
            asking.update((parameter.name, *parameter.also))
    if operation.tuple_without:
        return not call.unpacks and operation.tuple_without.isdisjoint(given)
    return not operation.tuple_with.isdisjoint(asking)


def _gives_indices(operation: Operation) -> bool:
    """``values, indices = x.max(0)``: two tensors, only one of them of the type of ``x`` (fixture `best_of_all`)."""
    return operation.shape is Shape.REDUCTION or bare_name(operation) in ALONG_A_DIMENSION


def _declines(value: Value) -> bool:
    return isinstance(value, Constant) and (value.value is None or value.value is False)


def _placed_result(
    interp: Interpreter,
    operation: Operation,
    bound: Sequence[Bound],
    operands: Sequence[Bound],
    clash: Clash[Device] | None,
    call: CallSite | None,
) -> Tensor:
    if clash is not None and operands[clash.operand].role in operation.cpu_arguments:
        clash = None
    if clash is None and operation.cpu_arguments:
        # Lengths that are read on the host say nothing of where the result is.
        operands = [b for b in operands if b.role not in operation.cpu_arguments] or operands
    # Nor does what may be anywhere: a gradient is where the input is, whatever the output was computed on.
    operands = [b for b in operands if b.role not in operation.free_arguments] or operands
    source = _source_of_result(interp, operation, operands, clash)
    value = source.value
    device = device_of_value(value)
    if operation.result is Result.OPERANDS and clash is None:
        device = _common_device(interp, bound, operands, source)
        if _meets_what_was_brought(operands, source):
            device = UNKNOWN
    kind = Kind.PLAIN
    if operation.in_place and isinstance(value, Tensor):
        kind = value.kind
    likely = all(isinstance(b.value, Opaque) or _likely(b.value) for b in operands)
    dim, least_dims = dimensions(operation, operands, call)
    return Tensor(
        device,
        dim,
        Elements.UNKNOWN,
        operation.result_dtype if operation.result_dtype is not DType.UNKNOWN else _dtype(operands),
        kind,
        Evidence.LIKELY if likely else Evidence.CERTAIN,
        provenance_of(value),
        copied_at=_copied_at(operation, value),
        stream=interp.state.streams.current,
        computed_at=interp.state.streams.epoch,
        least_dims=least_dims,
    )


_VIEWS = frozenset(
    {
        "as_strided", "chunk", "detach", "diagonal", "expand", "expand_as", "flatten", "hsplit", "movedim", "narrow",
        "permute", "reshape", "select", "split", "split_with_sizes", "squeeze", "swapaxes", "swapdims", "t", "T",
        "tensor_split", "transpose", "unbind", "unflatten", "unfold", "unsqueeze", "view", "view_as", "vsplit",
    }
)  # fmt: skip
"""Methods whose results share their memory with the tensor: https://docs.pytorch.org/docs/stable/tensor_view.html"""


def _copied_at(operation: Operation, value: Value) -> int | None:
    """The epoch of the queued copy that still writes to the memory of the result, if it is a view; else None."""
    return value.copied_at if shares_memory(operation) and isinstance(value, Tensor) else None


def shares_memory(operation: Operation) -> bool:
    """Whether the result is a view of the operand's memory."""
    return operation.name.removeprefix("Tensor.") in _VIEWS


def _likely(value: Value) -> bool:
    return isinstance(value, Tensor) and value.evidence is Evidence.LIKELY


def _dtype(operands: Sequence[Bound]) -> DType:
    kinds = {b.value.dtype if isinstance(b.value, Tensor) else DType.UNKNOWN for b in operands}
    return kinds.pop() if len(kinds) == 1 else DType.UNKNOWN


def _source_of_result(
    interp: Interpreter, operation: Operation, operands: Sequence[Bound], clash: Clash[Device] | None
) -> Bound:
    """The operand whose device the result has; after a mismatch, the operand that the others must agree with."""
    if operation.result is Result.SELF or operation.in_place:
        return operands[0]
    if clash is not None:
        sides = [clash.operand, clash.other if clash.other is not None else clash.operand]
        return next((operands[i] for i in sides if not _may_offend(interp, operands[i].value)), operands[sides[0]])

    def rank(b: Bound) -> int:
        if isinstance(b.value, Tensor) and b.value.dim is Dim.ZERO:
            return 4
        device = device_of_value(b.value)
        if isinstance(device, Unknown):
            return 3
        return 2 if isinstance(device, Choice) else 1 if device == CPU else 0

    return min(operands, key=rank)


def _may_offend(interp: Interpreter, value: Value) -> bool:
    """Whether the value is on the CPU, or was left behind when its batch was moved."""
    return left_behind(interp, value) or CPU in leaves(device_of_value(value))


def _common_device(interp: Interpreter, bound: Sequence[Bound], operands: Sequence[Bound], source: Bound) -> Device:
    device = device_of_value(source.value)
    if CPU not in leaves(device):
        return device
    if len(operands) == 1 and len(bound) == 1:
        return device
    others = [b for b in bound if b is not source and isinstance(b.value, (UnknownValue, Opaque, Tensor))]
    if others and all(map(_was_an_array, (source, *others))):
        return device
    scalar = isinstance(source.value, Tensor) and source.value.dim is not Dim.NONZERO
    if scalar and any(device_of_value(b.value) != CPU for b in others):
        # A 0-dim CPU tensor takes the device of the other operand.
        return UNKNOWN
    unknown = [b for b in others if isinstance(b.value, UnknownValue) or isinstance(device_of_value(b.value), Unknown)]
    if not unknown or (not scalar and not any(b.strict or _may_overload(interp, b) for b in unknown)):
        # Beside a CPU tensor with dimensions, a number and a CPU tensor give a CPU tensor, and any other tensor fails.
        return device
    # The other side may be an object that decides for itself.
    return UNKNOWN


def _meets_what_was_brought(operands: Sequence[Bound], source: Bound) -> bool:
    """``predicted.cpu() == batch.labels``: who brings one side to the CPU has the caller's other side there already.

    Else the operation itself fails, and nothing after it does (fixture `compared_on_the_host`). A number that was
    brought over goes with anything.
    """
    if not is_of_parameter(device_of_value(source.value)):
        return False
    brought = (b.value for b in operands if b is not source and isinstance(b.value, Tensor) and b.value.device == CPU)
    steps = (value.provenance.step for value in brought if value.dim is not Dim.ZERO and value.provenance is not None)
    return any(step.kind is StepKind.MOVED and step.device == CPU for step in steps)


def _was_an_array(bound: Bound) -> bool:
    """``if isinstance(x, np.ndarray): x = torch.from_numpy(x)``: who asks it of each operand is given all or none."""
    device = device_of_value(bound.value)
    return isinstance(device, Choice) and device.guard.kind is GuardKind.IS_ARRAY and device.then == CPU


def _may_overload(interp: Interpreter, bound: Bound) -> bool:
    """Whether an unknown operand may be an object with operators of its own: what an unknown call gives is anything."""
    if isinstance(bound.node, cst.Call):
        return True
    return any(map(library_models.overloads_operators, interp.index.imports.values()))
