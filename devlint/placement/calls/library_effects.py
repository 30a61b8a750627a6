"""Effects of library calls: one handler for each effect that the tables name.

Effects on objects are in :mod:`devlint.placement.calls.library_objects`, all others here. A handler gets the call with
its effect and options, and returns the value of the call.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from devlint import semantics
from devlint.placement.calls import data_sets
from devlint.placement.calls.bindings import item_of
from devlint.placement.calls.higher_order import call_first, call_with_inputs
from devlint.placement.calls.library_call import LibraryCall, given_back, one_value, place_of, told_place
from devlint.placement.calls.library_objects import bring_along, chain, met, object_of_class, placer, there
from devlint.placement.calls.modules import call_module
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Constant,
    Container,
    DeviceName,
    Evidence,
    Host,
    Instance,
    Module,
    Opaque,
    Tensor,
    UnknownValue,
    Value,
    array_of,
)
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, Device, Known, SameAs, Symbol
from devlint.placement.domain.provenance import StepKind
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.operands import Bound, bind
from devlint.placement.state.host_reads import host_read
from devlint.placement.state.refusals import note_refused
from devlint.placement.syntax.nodes import code_of, path_of
from devlint.records import replace
from devlint.semantics import Dim, DType, Operation


def _same(call: LibraryCall) -> Value:
    """Returns its argument."""
    if call.effect.argument == "self":
        return call.receiver or NOTHING
    argument = call.argument()
    return argument.value if argument is not None else NOTHING


def _copied(call: LibraryCall) -> Value:
    """A copy of its receiver, beside it."""
    value = call.receiver
    if not isinstance(value, (Module, Tensor)):
        return NOTHING
    step = call.interp.step(StepKind.RETURNED, call.node, value.device, f"{call.code}()", value.provenance)
    return replace(value, provenance=step)


def _made(call: LibraryCall) -> Value:
    """Created in host memory, whatever the default device is, or on the device an argument names."""
    if call.is_unknown():
        return NOTHING
    told = told_place(call)
    device = told if told is not None else _followed(call)
    if device is None:
        device = UNKNOWN if call.site.unpacks else call.interp.state.factory_device if call.effect.default else CPU
    # Bare means that the call could have created it elsewhere; reading a file or encoding a text could not.
    bare = told is None and device == CPU and (call.effect.default or bool(call.effect.device))
    provenance = call.interp.step(StepKind.MADE, call.node, device, call.code, None, None, bare)
    dtype = DType.OTHER if call.effect.floats else DType.UNKNOWN
    tensor = replace(_TENSOR, device=device, dtype=dtype, provenance=provenance)
    return given_back(call, lambda word: one_value(word, device, tensor, call.effect.fields))


def _followed(call: LibraryCall) -> Device | None:
    """Where the arguments are that a function takes as arrays or as tensors; None if they are no tensors."""
    given = (call.site.argument(name, position) for position, name in enumerate(call.effect.follows))
    values = [argument.value for argument in given if argument is not None]
    return next((value.device for value in values if isinstance(value, (Tensor, Opaque))), None)


def _beside(call: LibraryCall) -> Value:
    """A view or copy on the device of a tensor, or of the tensors in a list."""
    argument = call.argument()
    value = argument.value if argument is not None else NOTHING
    if isinstance(value, Container):
        value = item_of(call.interp, value, None)
    if not isinstance(value, (Tensor, Opaque)):
        return NOTHING
    if len(call.effect.gives) == 1:
        return value
    return given_back(call, lambda word: value if word == "tensor" else Host())


def _meets(call: LibraryCall) -> Value:
    """Its tensors are checked like the operands of an operation."""
    owner = call.receiver.type_name if isinstance(call.receiver, (Instance, Module)) else ""
    operation = semantics.function(call.effect.as_function or (f"{owner}.{call.name}" if owner else call.name))
    if not isinstance(operation, Operation):
        return NOTHING
    if call.effect.brings:
        bring_along(call)
    role = next((p.name for p in operation.parameters if p.kind == "tensors"), None)
    if not call.effect.as_function or role is None:
        bound = [_as_its_tensors(one) for one in bind(operation, call.site)]
        return perform(call.interp, call.node, operation, bound, call=call.site)
    tensors = [a for a in call.site.positional if isinstance(a.value, (Tensor, Opaque))]
    if not tensors:
        return NOTHING
    bound = [Bound(role, a.value, a.node, strict=True) for a in tensors]
    return perform(call.interp, call.node, operation, bound, call=call.site)


def _as_its_tensors(bound: Bound) -> Bound:
    """An object of a library, as a distribution, stands for the tensors that it is made of."""
    held = dict(bound.value.details).get("placed") if isinstance(bound.value, Instance) else None
    return replace(bound, value=held) if isinstance(held, Tensor) else bound


def _host(call: LibraryCall) -> Value:
    """Reads its arguments on the host and returns an array computed from them."""
    for argument in call.site.arguments:
        value: Value = argument.value
        expression: cst.BaseExpression | None = argument.node
        if isinstance(value, Container) and value.keys is None:
            # Each of its items is converted: where they are made is where a copy is to be taken.
            value, expression = next((item for item in value.innermost if _is_tensor(item)), NOTHING), None
        host_read(call.interp, call.node, call.name, value, wants_cpu=True, expression=expression)
    if _is_of_objects(call):
        return Host()
    made = array_of(*(argument.value for argument in call.site.arguments))
    dims = _dims_of_shape(call)
    return replace(made, dims=dims) if dims else made


def _dims_of_shape(call: LibraryCall) -> int:
    """``np.zeros((rows, columns))``: how many dimensions the shape names; 0 of other calls."""
    shape = call.site.argument("shape", 0)
    if shape is None or code_of(call.node.func).rpartition(".")[2] not in ("zeros", "ones", "empty", "full"):
        return 0
    written = shape.node.elements if isinstance(shape.node, (cst.Tuple, cst.List)) else ()
    return 0 if any(isinstance(size, cst.StarredElement) for size in written) else len(written)


def _is_of_objects(call: LibraryCall) -> bool:
    """``np.empty(n, dtype=object)``: an array that keeps what is written into it as it is, tensors too."""
    dtype = call.site.keyword("dtype")
    return dtype is not None and code_of(dtype.node).strip("\"'").rpartition(".")[2] in ("object", "object_", "O")


def _is_tensor(value: Value) -> bool:
    """An item that is a tensor, or what is used or moved as one."""
    return isinstance(value, Tensor) or (isinstance(value, Opaque) and (value.tensorlike or value.moved))


def _host_each(call: LibraryCall) -> Value:
    """Reads its arguments on the host, item by item: of numbers it gives a number, of arrays an array."""
    values = [argument.value for argument in call.site.arguments]
    result = _host(call)
    if call.site.unpacks or any(map(_has_dimensions, values)) or not isinstance(result, Host):
        return result
    return replace(
        result,
        numpy=False,
        number=all(isinstance(value, Constant) or getattr(value, "number", False) for value in values),
    )


def _has_dimensions(value: Value) -> bool:
    """Whether it is a tensor, an array or a list; what nothing is known of may be a number."""
    if isinstance(value, Opaque):
        return value.tensorlike
    return value.numpy if isinstance(value, Host) else not isinstance(value, (Constant, UnknownValue))


def _host_all(call: LibraryCall) -> Value:
    """Reads its arguments on the host: one number of them all, unless an axis or a place for the result is named."""
    result = _host(call)
    if call.site.unpacks or len(call.site.arguments) != 1 or not isinstance(result, Host):
        return result
    return replace(result, numpy=False, number=True)


def _host_reduced(call: LibraryCall) -> Value:
    """The same of what becomes an array first. A tensor itself is asked for its own method, which refuses the call."""
    given = call.site.argument("a", 0)
    first = given.value if given is not None else NOTHING
    if not isinstance(first, (Tensor, Opaque)):
        return _host_all(call)
    if isinstance(first, Tensor) and first.evidence is Evidence.CERTAIN:
        note_refused(call.interp, call.node)
    elif given is not None and (path := path_of(given.node)) is not None and path in call.interp.state.values:
        # What comes through is an array from here on.
        call.interp.state.store(path, Host(numpy=True))
    return Host(numpy=len(call.site.arguments) > 1, number=len(call.site.arguments) == 1)


def _host_columns(call: LibraryCall) -> Value:
    """Reads its arguments on the host, and what is kept under the keys of a dict: ``DataFrame({"score": scores})``.

    A list of tensors is kept as it is, of objects; so are numbers.
    """
    for argument in call.site.arguments:
        table = argument.value
        for column in table.items if isinstance(table, Container) and table.keys is not None else ():
            if _is_tensor(column) and getattr(column, "dim", Dim.NONZERO) is not Dim.ZERO:
                host_read(call.interp, call.node, call.name, column, wants_cpu=True)
    return _host(call)


def _plain(call: LibraryCall) -> Value:
    """A plain value; no tensor data is read."""
    return Host()


def _module(call: LibraryCall) -> Value:
    """A Module on the device where a factory without ``device=`` allocates, or where the library puts it itself."""
    owner, _, last = call.name.rpartition(".")
    type_name = owner if last[:1].islower() and owner.rpartition(".")[2][:1].isupper() else call.name
    if call.effect.only and call.is_unknown():
        return NOTHING
    device = told_place(call)
    if call.is_unknown() or (device is None and call.effect.device and call.site.unpacks):
        device = UNKNOWN
    elif device is None:
        device = Known("cuda") if call.effect.place == "cuda" else call.interp.state.factory_device
    provenance = call.interp.step(StepKind.MADE, call.node, device, call.name)
    state = _differ(call) if call.effect.differ else call.effect.state
    module = Module(device, type_name, None, provenance, holds_state=state)
    if call.effect.gives in (("tensor",), ("module",)):
        return module
    return given_back(call, lambda word: module if word == "module" else one_value(word, UNKNOWN, _TENSOR))


def _differ(call: LibraryCall) -> bool | None:
    """Whether two literals differ, as in ``Resample(16000, 10000)``; None if the call does not show it."""
    given = [call.site.argument(name, position) for position, name in enumerate(call.effect.differ)]
    values = [a.value.value for a in given if a is not None and isinstance(a.value, Constant)]
    return len(set(values)) > 1 if len(values) == len(call.effect.differ) else None


def _placed(call: LibraryCall) -> Value:
    """Returns its argument, moved to its receiver's device."""
    if call.is_unknown():
        return NOTHING
    device = place_of(call.receiver) if call.receiver is not None else process(call).device
    if call.effect.argument:
        argument = call.argument()
        first = _brought(call, argument.value, device) if argument is not None else NOTHING
        rest = [NOTHING] * (len(call.effect.gives) - 1)
        return Container((first, *rest), None, None, "tuple") if rest else first
    arguments = call.site.positional[:1] if call.effect.first else call.site.positional
    if call.effect.first and not arguments:
        return NOTHING
    placed = [_brought(call, argument.value, device) for argument in arguments]
    return placed[0] if len(placed) == 1 else Container(tuple(placed), None, None, "tuple")


def _brought(call: LibraryCall, value: Value, device: Device) -> Value:
    if not isinstance(value, (Module, Opaque, Tensor, UnknownValue)):
        return value
    provenance = call.interp.step(
        StepKind.MOVED, call.node, device, f"{call.code}()", getattr(value, "provenance", None)
    )
    if isinstance(value, (Module, Tensor)):
        return replace(value, device=device, provenance=provenance)
    return Opaque(device, provenance)


def _moved(call: LibraryCall) -> Value:
    """Returns its argument, moved to the device another argument names, else to the process's device."""
    argument = call.argument()
    if argument is None or call.is_unknown():
        return NOTHING
    device = CPU if call.effect.place == "cpu" else told_place(call)
    if device is None and not call.effect.default:
        return argument.value
    return _brought(call, argument.value, process(call).device if device is None else device)


def _device(call: LibraryCall) -> Value:
    """The device on which the library runs this process."""
    return process(call)


def process(call: LibraryCall) -> DeviceName:
    """The device on which a library runs a process: the same for all functions of that library, and only for those."""
    text = f"{call.name.partition('.')[0]}'s device"
    return DeviceName(SameAs(Symbol(Anchor.EXPRESSION, text, text)), None, call.code)


def _call(call: LibraryCall) -> Value:
    """The call of its receiver, a Module, under another name."""
    function = call.node.func
    if not isinstance(call.receiver, Module) or not isinstance(function, cst.Attribute):
        return NOTHING
    return call_module(call.interp, call.node, call.receiver, function.value, call.site)


def _calls(call: LibraryCall) -> Value:
    """Calls its first argument with the others, but for those in ``unless``; or with the tuple in ``argument``."""
    if call.effect.argument:
        given = call.argument()
        if call.site.positional and given is not None:
            # What comes back is what the function reports of the call, not what the call gives.
            call_with_inputs(call.interp, call.node, call.site.positional[0], given)
        return NOTHING
    return call_first(call.interp, call.node, call.site, call.effect.unless)


def _context(call: LibraryCall) -> Value:
    """A context manager, interpreted when it is entered."""
    told = told_place(call)
    device = told if told is not None else place_of(call.receiver)
    owner = call.receiver.type_name + "." if isinstance(call.receiver, Instance) else ""
    return Instance(owner + call.name, device=device, node=call.node)


Interpret = Callable[[LibraryCall], Value]

EFFECTS: dict[str, Interpret] = {
    "same": _same,
    "copied": _copied,
    "made": _made,
    "beside": _beside,
    "meets": _meets,
    "host": _host,
    "host_each": _host_each,
    "host_all": _host_all,
    "host_reduced": _host_reduced,
    "host_columns": _host_columns,
    "plain": _plain,
    "module": _module,
    "placer": placer,
    "object": object_of_class,
    "chain": chain,
    "placed": _placed,
    "moved": _moved,
    "device": _device,
    "there": there,
    "met": met,
    "call": _call,
    "calls": _calls,
    "context": _context,
    "rows": data_sets.rows,
    "batches": data_sets.batches,
}

_TENSOR = Tensor(UNKNOWN, Dim.NONZERO)
