"""Operations on tensors: which values are operands, what the judge says of them, and where the result is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.domain import (
    CPU,
    UNKNOWN,
    Anchor,
    Choice,
    Device,
    Guard,
    Known,
    SameAs,
    Unknown,
    assume,
    is_device_choice,
    leaves,
)
from devlint.placement.events import CallSite, HostRead, Met, MetOperand
from devlint.placement.origin import Origin, StepKind
from devlint.placement.streams import note_use
from devlint.placement.values import (
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
)
from devlint.semantics import Clash, Dim, DType, Elements, Operand, Operation, Result, Shape

if TYPE_CHECKING:
    from devlint.placement.walk import Walk


@dataclass(frozen=True, slots=True)
class Bound:
    """A value bound to a parameter. ``strict``: only a tensor can stand there."""

    role: str
    value: Value
    node: cst.CSTNode
    strict: bool = False
    direct: bool = True
    """Passed as this parameter itself, not as one of a list."""


def bind(operation: Operation, call: CallSite, receiver: tuple[Value, cst.CSTNode] | None = None) -> list[Bound]:
    """The arguments of a call under the names of the operation's parameters, in Python's order."""
    parameters = list(operation.parameters)
    bound: list[Bound] = []
    if receiver is not None and parameters:
        first = parameters.pop(0)
        bound.append(Bound(first.name, receiver[0], receiver[1], strict=True))
    names = {name: parameter for parameter in parameters for name in (parameter.name, *parameter.also)}
    positional = [parameter for parameter in parameters if not parameter.keyword_only]
    position = 0
    for argument in call.arguments:
        if argument.star == "**":
            continue
        if argument.keyword is not None:
            parameter = names.get(argument.keyword)
            if parameter is None and not bound and argument.keyword in ("input", "self") and positional:
                parameter = positional[0]
        elif argument.star == "*":
            last = positional[-1] if positional and positional[-1].kind == "tensors" else None
            if last is not None:
                bound += _spread(last.name, argument.value, argument.node)
            break
        else:
            parameter = positional[position] if position < len(positional) else None
            if parameter is None and positional and positional[-1].kind == "tensors":
                parameter = positional[-1]
            position += 1
        if parameter is None or parameter.kind == "other":
            continue
        if parameter.kind == "tensors":
            bound += _spread(parameter.name, argument.value, argument.node)
        else:
            strict = not bound or parameter.name in _ALWAYS_TENSORS
            bound.append(Bound(parameter.name, argument.value, argument.node, strict))
    return bound


_ALWAYS_TENSORS = frozenset(
    ["index", "mask", "mat1", "mat2", "batch1", "batch2", "target", "vec2", "query", "key", "value", "source", "weight", "condition", "indices", "x1", "x2", "src"]
)
"""Parameters that never take a number."""


def _spread(role: str, value: Value, node: cst.CSTNode) -> list[Bound]:
    if isinstance(value, Container):
        nodes = _element_nodes(node, value)
        bound = [
            Bound(role, item, element, strict=True, direct=False)
            for item, element in zip(value.items, nodes, strict=True)
        ]
        if value.rest is not None:
            bound.append(Bound(role, value.rest, node, strict=True, direct=False))
        return bound
    if isinstance(value, (Tensor, Opaque)):
        return [Bound(role, value, node, strict=isinstance(value, Tensor), direct=False)]
    return []


def _element_nodes(node: cst.CSTNode, value: Container) -> list[cst.CSTNode]:
    """The elements' own nodes where the container is written out at the call."""
    if isinstance(node, (cst.List, cst.Tuple)) and len(node.elements) == len(value.items):
        return [element.value for element in node.elements]
    return [node] * len(value.items)


def operator_operands(
    operation: Operation, left: tuple[Value, cst.BaseExpression], right: tuple[Value, cst.BaseExpression]
) -> list[Bound]:
    roles = [parameter.name for parameter in operation.parameters[:2]] or ["self", "other"]
    return [Bound(role, value, node) for role, (value, node) in zip(roles, (left, right), strict=True)]


def perform(
    walk: Walk,
    node: cst.CSTNode,
    operation: Operation,
    bound: Sequence[Bound],
    *,
    callee: str = "operation",
    callee_node: cst.BaseExpression | None = None,
    call: CallSite | None = None,
) -> Value:
    """Judges the meeting of the operands, reports a clash, and says what the operation gives back."""
    operands = [b for b in bound if _is_operand(walk, b)]
    clash = _judge(walk, operation, operands) if len(operands) > 0 else None
    for b in operands:
        note_use(walk, node, b.value, b.node)
    if clash is not None:
        _report(walk, node, operation, operands, clash, callee, callee_node)
    return _result(walk, node, operation, bound, operands, clash, call)


def _is_operand(walk: Walk, bound: Bound) -> bool:
    value = bound.value
    if isinstance(value, Tensor):
        return True
    if not isinstance(value, Opaque):
        return False
    if value.tensorlike or bound.strict:
        return True
    # What comes with a batch, some of which was moved, is a tensor like the rest.
    return isinstance(value.device, SameAs) and value.device.symbol.key in walk.state.moved_groups


def _judge(walk: Walk, operation: Operation, operands: Sequence[Bound]) -> Clash[Device] | None:
    """The judge's word, over every way the guards of the operands' devices can be decided."""
    if len(operands) < 2 and not operation.cpu_arguments:
        return None
    guards: list[Guard] = []
    for b in operands:
        for guard in _guards(_device(b.value)):
            if guard not in guards:
                guards.append(guard)
    if not guards:
        return _meet(walk, operation, operands, [_device(b.value) for b in operands])
    if len(guards) > 3:
        return None
    clashes: list[Clash[Device] | None] = []
    for outcome in product((True, False), repeat=len(guards)):
        devices = []
        for b in operands:
            device = _device(b.value)
            for guard, holds in zip(guards, outcome, strict=True):
                device = assume(device, guard, holds)
            devices.append(device)
        found = _meet(walk, operation, operands, devices)
        if found is not None and _decided_on_purpose(operands, devices):
            found = None
        clashes.append(found)
    found = next((c for c in clashes if c is not None), None)
    # Under one condition a clash in either arm is one; two conditions may exclude each other.
    return found if len(guards) == 1 or all(clashes) else None


def _decided_on_purpose(operands: Sequence[Bound], devices: Sequence[Device]) -> bool:
    """The CPU arm of a choice about devices agrees with a caller on the CPU: nothing to see there."""
    chosen = any(
        device == CPU and _has_device_choice(_device(b.value)) for b, device in zip(operands, devices, strict=True)
    )
    return chosen and not all(isinstance(device, Known) for device in devices)


def _has_device_choice(device: Device) -> bool:
    return isinstance(device, Choice) and (
        is_device_choice(device) or _has_device_choice(device.then) or _has_device_choice(device.otherwise)
    )


def _guards(device: Device) -> list[Guard]:
    if isinstance(device, Choice):
        return [device.guard, *_guards(device.then), *_guards(device.otherwise)]
    return []


def _meet(
    walk: Walk, operation: Operation, operands: Sequence[Bound], devices: Sequence[Device]
) -> Clash[Device] | None:
    given = [_operand(b, device) for b, device in zip(operands, devices, strict=True)]
    verdict = semantics.meet(operation, given, walk.relate, CPU)
    if not isinstance(verdict, Clash) or _on_the_host_by_contract(verdict, operands, devices):
        return None
    return verdict


def _on_the_host_by_contract(
    clash: Clash[Device], operands: Sequence[Bound], devices: Sequence[Device]
) -> bool:
    """A value put on the CPU on purpose beside an argument: the function says that it works there.

    It is a clash all the same when the value was brought over from that very argument.
    """
    sides = [clash.operand, clash.other if clash.other is not None else clash.operand]
    for one, two in (sides, sides[::-1]):
        device = devices[two]
        if devices[one] != CPU or not isinstance(device, SameAs) or device.symbol.anchor is not Anchor.PARAMETER:
            continue
        origin = _origin(operands[one].value)
        if origin is not None and _placed_on_purpose(origin):
            return not any(step.device == device for step in origin)
    return False


def _placed_on_purpose(origin: Origin) -> bool:
    for step in origin:
        if step.kind is StepKind.MOVED:
            return True
        if step.kind is StepKind.MADE:
            return not step.bare
    return False


def _operand(bound: Bound, device: Device) -> Operand[Device]:
    value = bound.value
    if isinstance(value, Tensor):
        return Operand(bound.role, device, value.dim, value.elements, value.dtype)
    # What a loader yields has a batch dimension.
    from_batch = isinstance(device, SameAs) and device.symbol.anchor is Anchor.BATCH
    return Operand(bound.role, device, Dim.NONZERO if from_batch else Dim.UNKNOWN)


def _device(value: Value) -> Device:
    return value.device if isinstance(value, (Tensor, Opaque)) else UNKNOWN


def _report(
    walk: Walk,
    node: cst.CSTNode,
    operation: Operation,
    operands: Sequence[Bound],
    clash: Clash[Device],
    callee: str,
    callee_node: cst.BaseExpression | None,
) -> None:
    met = tuple(MetOperand(b.role, b.value, b.node) for b in operands)
    stray, other = _sides(met, clash)
    walk.emit(Met(node, walk.scope, operation, met, clash, stray, other, callee, callee_node))


def _sides(met: tuple[MetOperand, ...], clash: Clash[Device]) -> tuple[MetOperand, MetOperand]:
    """The operand to bring over, and the one it must agree with: the one made or left on the CPU strays."""
    first = met[clash.operand]
    second = met[clash.other] if clash.other is not None else first
    if _strays(second) and not _strays(first):
        return second, first
    return first, second


def _strays(operand: MetOperand) -> bool:
    device = _device(operand.value)
    if isinstance(device, SameAs) and device.symbol.anchor is Anchor.BATCH:
        return True
    return CPU in leaves(device)


def _result(
    walk: Walk,
    node: cst.CSTNode,
    operation: Operation,
    bound: Sequence[Bound],
    operands: Sequence[Bound],
    clash: Clash[Device] | None,
    call: CallSite | None,
) -> Value:
    match operation.result:
        case Result.HOST:
            for b in operands[:1]:
                host_read(walk, node, operation.name, b.value, expression=b.node)
            return Host(number=True)
        case Result.NUMPY:
            return Host(numpy=True)
        case Result.NOTHING:
            return NOTHING
        case _:
            pass
    if not operands:
        return NOTHING
    tensor = _placed_result(walk, operation, bound, operands, clash, call)
    if operation.returns_tuple or _asked_for_tuple(operation, call):
        return Container((), None, replace(tensor, dim=Dim.UNKNOWN), "tuple")
    return tensor


def _asked_for_tuple(operation: Operation, call: CallSite | None) -> bool:
    if call is None or not operation.tuple_with:
        return False
    if any(argument.keyword in operation.tuple_with for argument in call.arguments):
        return True
    extra = call.positional[1:] if not operation.name.startswith("Tensor.") else call.positional
    return any(not isinstance(argument.value, (Tensor, Opaque)) for argument in extra[:1])


def _placed_result(
    walk: Walk,
    operation: Operation,
    bound: Sequence[Bound],
    operands: Sequence[Bound],
    clash: Clash[Device] | None,
    call: CallSite | None,
) -> Tensor:
    source = _source_of_result(operation, operands, clash)
    value = source.value
    device = CPU if operation.result is Result.CPU else _device(value)
    if operation.result is Result.OPERANDS and clash is None:
        device = _common_device(bound, operands, source)
    kind = Kind.PLAIN
    if operation.in_place and isinstance(value, Tensor):
        kind = value.kind
    likely = all(isinstance(b.value, Opaque) or _likely(b.value) for b in operands)
    return Tensor(
        device,
        _dim(operation, operands, call),
        Elements.UNKNOWN,
        operation.result_dtype if operation.result_dtype is not DType.UNKNOWN else _dtype(operands),
        kind,
        Evidence.LIKELY if likely else Evidence.CERTAIN,
        _origin(value),
        stream=walk.state.stream,
        computed_at=walk.state.epoch,
    )


def _likely(value: Value) -> bool:
    return isinstance(value, Tensor) and value.evidence is Evidence.LIKELY


def _dtype(operands: Sequence[Bound]) -> DType:
    kinds = {b.value.dtype if isinstance(b.value, Tensor) else DType.UNKNOWN for b in operands}
    return kinds.pop() if len(kinds) == 1 else DType.UNKNOWN


def _origin(value: Value) -> Origin | None:
    return value.origin if isinstance(value, (Tensor, Opaque)) else None


def _source_of_result(
    operation: Operation, operands: Sequence[Bound], clash: Clash[Device] | None
) -> Bound:
    """The operand the result sits with; after a clash the one the others must agree with."""
    if operation.result is Result.OTHER:
        return next((b for b in operands if b.role == "other"), operands[-1])
    if operation.result is Result.SELF or operation.in_place:
        return operands[0]
    if clash is not None:
        sides = [clash.operand, clash.other if clash.other is not None else clash.operand]
        return next((operands[i] for i in sides if CPU not in leaves(_device(operands[i].value))), operands[sides[0]])

    def rank(b: Bound) -> int:
        if isinstance(b.value, Tensor) and b.value.dim is Dim.ZERO:
            return 4
        device = _device(b.value)
        if isinstance(device, Unknown):
            return 3
        return 2 if isinstance(device, Choice) else 1 if device == CPU else 0

    return min(operands, key=rank)


def _common_device(bound: Sequence[Bound], operands: Sequence[Bound], source: Bound) -> Device:
    device = _device(source.value)
    if CPU not in leaves(device):
        return device
    if len(operands) == 1 and len(bound) == 1:
        return device
    others = [b for b in bound if b is not source and isinstance(b.value, (UnknownValue, Opaque, Tensor))]
    scalar = isinstance(source.value, Tensor) and source.value.dim is not Dim.NONZERO
    if scalar and any(isinstance(_device(b.value), (Unknown, Choice)) for b in others):
        # A 0-dim CPU tensor follows whatever it meets.
        return UNKNOWN
    if any(isinstance(b.value, UnknownValue) or isinstance(_device(b.value), Unknown) for b in others):
        # The other side may be an object that decides for itself, or a tensor this analysis does not place.
        return UNKNOWN
    return device


def _dim(operation: Operation, operands: Sequence[Bound], call: CallSite | None) -> Dim:
    match operation.shape:
        case Shape.ZERO:
            return Dim.ZERO
        case Shape.NONZERO:
            return Dim.NONZERO
        case Shape.SAME:
            return _dim_of(operands[0].value)
        case Shape.REDUCTION:
            given = call is not None and (
                any(a.keyword in operation.reduced_by for a in call.arguments) or _positional_dim(operation, call)
            )
            return Dim.UNKNOWN if given else Dim.ZERO
        case Shape.BROADCAST:
            dims = {_dim_of(b.value) for b in operands}
            if Dim.NONZERO in dims:
                return Dim.NONZERO
            return Dim.ZERO if dims == {Dim.ZERO} else Dim.UNKNOWN
        case _:
            return _dim_by_size(operation, call)


def _dim_by_size(operation: Operation, call: CallSite | None) -> Dim:
    """``view(1, -1)``, ``reshape(n)``, ``expand(...)``: as many dimensions as sizes are given."""
    if call is None or not any(p.name in ("size", "shape", "repeats", "dims") for p in operation.parameters):
        return Dim.UNKNOWN
    sizes = call.positional if operation.name.startswith("Tensor.") else call.positional[1:]
    if not sizes or (isinstance(sizes[0].value, Container) and not sizes[0].value.items):
        return Dim.UNKNOWN
    return Dim.NONZERO if isinstance(sizes[0].value, (Constant, Host, Container)) or len(sizes) > 1 else Dim.UNKNOWN


def _positional_dim(operation: Operation, call: CallSite) -> bool:
    skip = 0 if operation.name.startswith("Tensor.") else 1
    return len(call.positional) > skip or call.unpacks


def _dim_of(value: Value) -> Dim:
    return value.dim if isinstance(value, Tensor) else Dim.UNKNOWN


def host_read(
    walk: Walk, node: cst.CSTNode, reader: str, value: Value, *, wants_cpu: bool = False,
    expression: cst.CSTNode | None = None,
) -> None:
    """A tensor's data is read on the host."""
    if not isinstance(value, (Tensor, Opaque)):
        return
    copied = value.copied_at if isinstance(value, Tensor) else None
    in_flight = copied is not None and copied == walk.state.synchronisation
    place = expression if isinstance(expression, cst.BaseExpression) else None
    walk.emit(HostRead(node, walk.scope, reader, value, wants_cpu, in_flight, place))
    if CPU not in leaves(value.device):
        # Reading it from there waits for what was queued before: `.item()` synchronises.
        walk.state.synchronisation += 1


# -- subscripts ---------------------------------------------------------------------------------------------------


def read_item(walk: Walk, node: cst.Subscript, value: Tensor | Opaque) -> Value:
    """``x[...]``: the index may be on the CPU, an index elsewhere needs x to be there too."""
    indices, advanced = _indices(walk, node)
    if not advanced:
        return _viewed(node, value, indices)
    operation = semantics.operator("[]")
    bound = [Bound("self", value, node.value, strict=True), *indices]
    result = perform(walk, node, operation, bound)
    if isinstance(result, Tensor):
        return replace(result, dim=Dim.NONZERO if _all_nonzero(indices) else Dim.UNKNOWN)
    return result


def _all_nonzero(indices: Sequence[Bound]) -> bool:
    return all(_dim_of(b.value) is Dim.NONZERO for b in indices)


def _viewed(node: cst.Subscript, value: Tensor | Opaque, indices: Sequence[Bound]) -> Value:
    """Slices and ``None`` keep dimensions, an integer takes one away."""
    if isinstance(value, Opaque):
        return value
    only_slices = all(
        isinstance(element.slice, cst.Slice)
        or (isinstance(element.slice, cst.Index) and _keeps_dimension(element.slice.value))
        for element in node.slice
    )
    adds = any(
        isinstance(element.slice, cst.Index) and isinstance(element.slice.value, cst.Name)
        and element.slice.value.value == "None"
        for element in node.slice
    )
    dim = Dim.NONZERO if adds or any(isinstance(e.slice, cst.Slice) for e in node.slice) else Dim.UNKNOWN
    if only_slices and not adds:
        dim = value.dim
    return replace(value, dim=dim, elements=Elements.UNKNOWN)


def _keeps_dimension(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Ellipsis) or (isinstance(node, cst.Name) and node.value == "None")


def _indices(walk: Walk, node: cst.Subscript) -> tuple[list[Bound], bool]:
    """The tensor indices of a subscript, and whether there is one."""
    found: list[Bound] = []
    for element in node.slice:
        part = element.slice
        if isinstance(part, cst.Index):
            value = walk.evaluate(part.value)
            if isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike):
                found.append(Bound("indices", value, part.value, strict=True))
        elif isinstance(part, cst.Slice):
            for bound in (part.lower, part.upper, part.step):
                if bound is not None:
                    walk.evaluate(bound)
    return found, bool(found)


def write_item(
    walk: Walk,
    target: cst.Subscript,
    owner: Tensor | Opaque,
    value: Value,
    value_node: cst.BaseExpression | None,
) -> None:
    """``x[...] = v``: through slices and integers any device will do, through an index tensor it will not."""
    indices, advanced = _indices(walk, target)
    if not advanced:
        return
    operation = semantics.operator("[]=")
    bound = [Bound("self", owner, target.value, strict=True), *indices]
    if isinstance(value, (Tensor, Opaque)):
        bound.append(Bound("value", value, value_node if value_node is not None else target))
    perform(walk, target, operation, bound)


def given(walk: Walk, node: cst.CSTNode, device: Device, name: str) -> Origin:
    """The origin of something that came in from outside."""
    return walk.step(StepKind.GIVEN, node, device, name)
