"""Factories: calls that create a tensor, and the device they create it on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_values import (
    NONE,
    UNSET,
    Argument,
    Constant,
    Container,
    DeviceName,
    Evidence,
    Function,
    Host,
    Opaque,
    Tensor,
    UnknownValue,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import Created, Sink
from devlint.placement.domain.lattice import CPU, UNKNOWN, Device, Known
from devlint.placement.domain.provenance import Provenance, StepKind
from devlint.placement.operations import generators
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.dimensions import dims_by_size, dims_of_data, least_dims
from devlint.placement.operations.operands import bind, dim_of
from devlint.placement.operations.sequences_of_data import is_sequence
from devlint.placement.state.devices import expression_device, resolve_device
from devlint.records import replace
from devlint.semantics import Dim, DType, Elements, Factory, Shape, dtype_class

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

_FROM_DATA = frozenset({"torch.tensor", "torch.as_tensor", "torch.asarray", "torch.Tensor", "torch.FloatTensor",
                        "torch.LongTensor", "torch.BoolTensor", "torch.ByteTensor", "torch.IntTensor"})  # fmt: skip


def create(
    interp: Interpreter,
    node: cst.Call,
    factory: Factory,
    call: CallSite,
    receiver: Value | None = None,
    note: str = "",
) -> Value:
    """The tensor that a factory call creates; with ``out=`` the given tensor.

    ``note``: the convention by which what is called is the factory.
    """
    out = call.keyword("out")
    if out is not None and out.value != NONE:
        return out.value
    named = _device_argument(factory, call)
    if named is not None and isinstance(named.value, Constant) and named.value.value is None:
        # An attribute that the constructor sets to None is set elsewhere later.
        named = replace(named, value=UNSET) if isinstance(named.node, cst.Attribute) else None
    previous: Provenance | None = None
    bare = False
    if named is not None:
        device = resolve_device(interp, named.value, named.node, Sink.ARGUMENT, call)
        if device == CPU and isinstance(named.value, DeviceName) and _is_bare(named.value.provenance):
            # On the CPU because another tensor was left there: the repair goes where that one is made.
            previous = interp.step(StepKind.COMPUTED, node, device, factory.name, named.value.provenance)
    else:
        _check_data(interp, node, factory, call)
        device, previous = _default(interp, factory, call, receiver)
        bare = previous is None and device == CPU and not call_hides_device(call)
        if not bare and device == CPU and call_hides_device(call):
            device = _device_of_options(interp, call)
    if previous is not None and device != UNKNOWN:
        provenance = previous
    else:
        note = note or (_assumed_of(_data(call)) if bare and factory.name in _FROM_DATA else "")
        provenance = interp.step(StepKind.MADE, node, device, factory.name, None, factory, bare, note)
    value = Tensor(
        device,
        _dim(interp, factory, call),
        _elements(factory, call),
        _dtype(factory, call),
        evidence=Evidence.CERTAIN,
        provenance=provenance,
        pinned=_is_true(call.keyword("pin_memory")),
        stream=None if factory.is_uninitialised else interp.state.streams.current,
        computed_at=interp.state.streams.epoch,
        least_dims=_least_dims(factory, call, receiver),
    )
    generators.note_factory(interp, node, factory.name, call, value, named)
    in_context = interp.state.factory_device != CPU
    local = node.func.value if isinstance(node.func, cst.Name) else ""
    imported = interp.index.imports.get(local) == factory.name and local not in interp.state.values
    interp.emit(Created(node, interp.scope, factory, call, value, named, in_context, imported))
    return value


def _check_data(interp: Interpreter, node: cst.Call, factory: Factory, call: CallSite) -> None:
    """Several tensors that a factory is made of (``torch.sparse_coo_tensor(indices, values)``) meet there, unless a
    context or unnamed options say where all of them go."""
    operation = factory.with_tensors
    if operation is None or call_hides_device(call) or interp.state.factory_device != CPU:
        return
    bound = bind(operation, call)
    if sum(isinstance(each.value, Tensor) for each in bound) > 1:
        perform(interp, node, operation, bound, call=call)


def _is_bare(provenance: Provenance | None) -> bool:
    """Whether a factory without ``device=`` made the tensor, and nothing moved it since."""
    latest = provenance.find(StepKind.MADE, StepKind.MOVED) if provenance is not None else None
    return latest is not None and latest.kind is StepKind.MADE and latest.bare


def call_hides_device(call: CallSite) -> bool:
    """Whether ``**kwargs`` may contain ``device``."""
    return any(argument.star == "**" for argument in call.arguments)


def _device_of_options(interp: Interpreter, call: CallSite) -> Device:
    """``torch.zeros(n, **options)``: wherever the options say, that is what a factory is handed them for."""
    options = [argument.node for argument in call.arguments if argument.star == "**"]
    return expression_device(interp, options[0]) if len(options) == 1 else UNKNOWN


def _device_argument(factory: Factory, call: CallSite) -> Argument | None:
    named = call.keyword("device")
    if named is not None or not factory.takes_device:
        return named
    if "device" in factory.parameters and "device" not in factory.keyword_only:
        return call.argument("device", factory.parameters.index("device"))
    return None


def _default(
    interp: Interpreter, factory: Factory, call: CallSite, receiver: Value | None
) -> tuple[Device, Provenance | None]:
    """The device of the tensor without ``device=``, and its provenance if it follows another value."""
    match factory.default:
        case "default_device":
            return interp.state.factory_device, None
        case "default_tensor_type":
            return interp.state.default_device, None
        case "cpu":
            return CPU, None
        case "alias":
            return _given_back(interp, _data(call))
        case "current_cuda":
            return Known("cuda", interp.state.current_index), None
        case "self":
            return _follow(receiver)
        case "input":
            return _follow(_data(call))
        case "qtensor":
            like = call.argument("qtensor", factory.parameters.index("qtensor"))
            return _follow(None if like is None else like.value)
        case "data" if factory.with_tensors is not None:
            given = _first_tensor(factory, call)
            return (interp.state.default_device, None) if given is None else _from_data(interp, factory, given)
        case "data":
            return _from_data(interp, factory, _data(call))
        case _:
            return UNKNOWN, None


def _assumed_of(data: Value | None) -> str:
    """The convention by which what a tensor is made of is on the host, in the words of a trace."""
    if isinstance(data, Container):
        data = data.rest
    return data.provenance.step.note if isinstance(data, Host) and data.provenance is not None else ""


def _data(call: CallSite) -> Value | None:
    for name in ("data", "input", "obj", "values"):
        found = call.keyword(name)
        if found is not None:
            return found.value
    return call.positional[0].value if call.positional else None


def _first_tensor(factory: Factory, call: CallSite) -> Value | None:
    """The first argument that is no number, where numbers or tensors may stand (``torch.normal(0.0, std=std)``); one
    that was put somewhere rather than one that was just made.

    None if all are numbers, or just made with a size beside them: then it is the call that says where. Random numbers
    are drawn to a size only where no tensor says one; a sparse tensor has a size whatever its values are.
    """
    assert factory.with_tensors is not None
    arguments = (
        call.argument(parameter.name, position)
        for position, parameter in enumerate(factory.with_tensors.parameters)
        if parameter.kind == "tensor" and not parameter.keyword_only
    )
    given = [argument.value for argument in arguments if argument is not None]
    tensors = [value for value in given if isinstance(value, Tensor)]
    placed = next((tensor for tensor in tensors if not _is_bare(tensor.provenance)), None)
    if placed is not None:
        return placed
    sized = "size" in factory.parameters and call.argument("size", factory.parameters.index("size")) is not None
    if sized and (tensors or factory.random):
        return None
    return next((value for value in (*tensors, *given) if not isinstance(value, (Constant, Host))), None)


def _follow(value: Value | None) -> tuple[Device, Provenance | None]:
    if isinstance(value, (Tensor, Opaque)):
        return value.device, value.provenance
    return UNKNOWN, None


def _from_data(interp: Interpreter, factory: Factory, value: Value | None) -> tuple[Device, Provenance | None]:
    """Tensor data keeps its device; lists, numbers and arrays go to the default device."""
    if isinstance(value, Container) and factory.name == "torch.nested.nested_tensor":
        return _of_rows(interp, value)
    if isinstance(value, Tensor):
        return value.device, value.provenance
    if isinstance(value, Opaque) and (value.tensorlike or factory.name != "torch.tensor"):
        return UNKNOWN, None
    if isinstance(value, UnknownValue) and factory.name != "torch.tensor" and not value.bottom:
        return UNKNOWN, None
    if isinstance(value, Function):
        return UNKNOWN, None
    return interp.state.factory_device, None


def _given_back(interp: Interpreter, value: Value | None) -> tuple[Device, Provenance | None]:
    """``torch.Tensor(t)`` is the tensor again, wherever it is: `BASE_CTOR` in torch/csrc/utils/tensor_new.cpp."""
    if isinstance(value, Tensor):
        return value.device, value.provenance
    if isinstance(value, Opaque) and value.tensorlike:
        return UNKNOWN, None
    return interp.state.default_device, None


def _of_rows(interp: Interpreter, rows: Container) -> tuple[Device, Provenance | None]:
    """A nested tensor is where its leftmost row is; rows that are lists or numbers go to the default device."""
    first = rows.items[0] if rows.items else rows.rest
    if isinstance(first, (Tensor, Opaque)):
        return first.device, first.provenance
    if first is None or isinstance(first, (Constant, Host, Container)):
        return interp.state.factory_device, None
    return UNKNOWN, None


def _is_true(argument: Argument | None) -> bool:
    return argument is not None and isinstance(argument.value, Constant) and argument.value.value is True


def _dim(interp: Interpreter, factory: Factory, call: CallSite) -> Dim:
    if factory.name in _FROM_DATA:
        found = _dim_of_data(factory, call)
        data = call.positional[0].node if call.positional else None
        written = found is Dim.UNKNOWN and isinstance(data, cst.BaseExpression) and is_sequence(interp, data)
        return Dim.NONZERO if written else found
    if factory.shape is Shape.ZERO:
        return Dim.ZERO
    if factory.shape is Shape.NONZERO:
        return Dim.NONZERO
    size = _size(factory, call)
    if factory.default in ("input", "self", "data") and not _is_sized(factory, size):
        return _dim_of_source(factory, call)
    if size is None:
        # ``torch.ones(*x.shape)``: an unpacked shape is assumed to have dimensions.
        return Dim.NONZERO if any(argument.star == "*" for argument in call.arguments) else Dim.UNKNOWN
    if isinstance(size, Container) and not size.items and size.rest is None:
        return Dim.ZERO
    return Dim.UNKNOWN if isinstance(size, UnknownValue) and call.unpacks else Dim.NONZERO


def _least_dims(factory: Factory, call: CallSite, receiver: Value | None) -> int:
    if factory.name in _FROM_DATA:
        several = factory.legacy and len(call.positional) > 1
        return len(call.positional) if several else dims_of_data(_data(call))
    size = _size(factory, call)
    if factory.default in ("input", "self") and not _is_sized(factory, size):
        return least_dims(_data(call) if factory.default == "input" else receiver)
    return dims_by_size(factory, call, size)


def _is_sized(factory: Factory, size: Value | None) -> bool:
    """``torch.normal(0.0, 1.0, size=(3,))`` takes numbers or tensors, and a size only with numbers."""
    return factory.default == "data" and "size" in factory.parameters and size is not None


def _dim_of_data(factory: Factory, call: CallSite) -> Dim:
    value = _data(call)
    legacy = factory.legacy
    if isinstance(value, Tensor):
        return value.dim
    if isinstance(value, Container):
        return Dim.NONZERO
    if isinstance(value, Constant):
        return Dim.NONZERO if legacy else Dim.ZERO
    if factory.name == "torch.from_numpy":
        # It refuses numpy's scalars: what it takes is an array.
        return Dim.NONZERO
    if isinstance(value, Host):
        return Dim.NONZERO if legacy or value.numpy else Dim.ZERO if value.number else Dim.UNKNOWN
    # ``torch.FloatTensor(rewards)``: of a number it would make so many elements, of all else a copy with dimensions.
    return Dim.NONZERO if legacy else Dim.UNKNOWN


def _dim_of_source(factory: Factory, call: CallSite) -> Dim:
    drawn = factory.with_tensors
    if drawn is not None and drawn.shape is Shape.BROADCAST:
        # ``torch.normal(torch.zeros(n), 1.0)``: as many dimensions as the larger of the two.
        dims = {dim_of(each.value) for each in bind(drawn, call) if isinstance(each.value, Tensor)}
        return Dim.NONZERO if Dim.NONZERO in dims else Dim.UNKNOWN
    value = _data(call)
    return value.dim if isinstance(value, Tensor) and factory.default == "input" else Dim.UNKNOWN


def _size(factory: Factory, call: CallSite) -> Value | None:
    """The size argument; None if it is not given explicitly."""
    found = call.keyword("size")
    if found is not None:
        return found.value
    position = factory.parameters.index("size") if "size" in factory.parameters else 0
    positional = call.positional
    if factory.name.endswith(("randint", "randint_like")) and len(positional) == 2:
        position = 1
    if position < len(positional):
        return positional[position].value
    return None


def _elements(factory: Factory, call: CallSite) -> Elements:
    if factory.name in _FROM_DATA:
        value = _data(call)
        if isinstance(value, Container) and value.rest is None:
            return (
                Elements.ONE if len(value.items) == 1 and not isinstance(value.items[0], Container) else Elements.MANY
            )
        return Elements.ONE if isinstance(value, Constant) else Elements.UNKNOWN
    size = _size(factory, call)
    if isinstance(size, Constant) and isinstance(size.value, int) and len(call.positional) == 1:
        return Elements.ONE if size.value == 1 else Elements.MANY
    return Elements.UNKNOWN


def _dtype(factory: Factory, call: CallSite) -> DType:
    named = call.keyword("dtype")
    if named is not None:
        name = getattr(named.value, "name", "")
        if isinstance(name, str) and name.startswith("torch."):
            return dtype_class(name) or DType.OTHER
        return DType.UNKNOWN
    return factory.dtype
