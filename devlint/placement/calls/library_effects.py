"""What calls of other libraries do, by the effects that their tables name.

Each effect is interpreted here and nowhere else.

The rows are read by :mod:`devlint.semantics.library_models`. A handler gets the call and the effect with its options;
what it gives back is the value of the call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls.bindings import item_of
from devlint.placement.calls.higher_order import call_first
from devlint.placement.calls.modules import call_module
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Argument,
    Constant,
    Container,
    DeviceName,
    Host,
    Instance,
    Module,
    Opaque,
    Partial,
    Tensor,
    UnknownValue,
    Value,
    array_of,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.device_names import name_of_constant
from devlint.placement.domain.events import Sink
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, Device, SameAs, Symbol
from devlint.placement.domain.provenance import StepKind
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.operands import Bound, bind
from devlint.placement.state.devices import resolve_device
from devlint.placement.state.host_reads import host_read
from devlint.placement.syntax.nodes import code_of
from devlint.semantics import Dim, Operation, library_models
from devlint.semantics.library_rows import Effect

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Walk


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """One call that a table tells of."""

    walk: Walk
    node: cst.Call
    site: CallSite
    effect: Effect
    name: str
    """Of the function or class; of a method its bare name."""
    receiver: Value | None = None

    @property
    def code(self) -> str:
        return code_of(self.node.func)

    def argument(self) -> Argument | None:
        """The argument that is meant."""
        if self.effect.argument:
            # Where an argument names the place, the position is that one's.
            return self.site.argument(self.effect.argument, 0 if self.effect.device else self.effect.position)
        return self.site.positional[0] if self.site.positional else None

    def is_unknown(self) -> bool:
        """Whether an argument is given with which nothing is known, or may be among unpacked ones."""
        return bool(self.effect.unless) and (self.site.unpacks or any(map(self._is_given, self.effect.unless)))

    def _is_given(self, option: str) -> bool:
        keyword, _, wanted = option.partition("=")
        given = self.site.keyword(keyword)
        if given is None:
            return False
        told = given.value.value if isinstance(given.value, Constant) else ...
        return str(told) == wanted if wanted else told is not None and told is not False


Interpret = Callable[[LibraryCall], Value]


def call(walk: Walk, node: cst.Call, name: str, site: CallSite) -> Value | None:
    """What a call of this name gives back; None where no row tells of that very name."""
    found = library_models.effect(name)
    return None if found is None else _EFFECTS[found.name](LibraryCall(walk, node, site, found, name))


def call_in_package(walk: Walk, node: cst.Call, name: str, site: CallSite) -> Value | None:
    """The same by what holds of everything in the package."""
    found = library_models.package(name)
    if found is None or found.effect is None:
        return None
    return _EFFECTS[found.effect.name](LibraryCall(walk, node, site, found.effect, name))


def call_by_keyword(walk: Walk, node: cst.Call, site: CallSite) -> Value | None:
    """What any call with a telling keyword gives back: ``tokenizer(text, return_tensors="pt")``."""
    for argument in site.arguments:
        if argument.keyword is None or argument.keyword not in library_models.anywhere().keywords:
            continue
        wanted, effect = library_models.anywhere().keywords[argument.keyword]
        if isinstance(argument.value, Constant) and argument.value.value == wanted:
            made = LibraryCall(walk, node, site, effect, code_of(node.func))
            return None if made.is_unknown() else _EFFECTS[effect.name](made)
    return None


def call_method(walk: Walk, node: cst.Call, receiver: Value, type_name: str, name: str, site: CallSite) -> Value | None:
    """What a method of an object of a library's class gives back; None where no row tells of it."""
    row = library_models.row(type_name) if type_name else None
    effect = row.methods.get(name) if row is not None else None
    return None if effect is None else _EFFECTS[effect.name](LibraryCall(walk, node, site, effect, name, receiver))


def placed_anywhere(walk: Walk, node: cst.CSTNode, class_name: str, name: str) -> Instance:
    """An object by its place in the source whose ``device`` is wherever the process runs; two may be anywhere."""
    text = f"{name}.device"
    device = SameAs(Symbol(Anchor.EXPRESSION, text, f"{walk.scope.qualname}:{text}@{id(node)}"))
    return Instance(class_name, device=device, node=node, details=(("device", DeviceName(device, None, text)),))


def given(walk: Walk, parameter: cst.Param, class_name: str, name: str) -> Value | None:
    """An argument that is annotated with a library's class; None where its table says nothing of its device."""
    row = library_models.row(class_name)
    if row is None or row.effect is None or row.effect.name != "placer":
        return None
    return placed_anywhere(walk, parameter, row.name, name)


def field(owner: Instance, name: str) -> Value:
    """An attribute of an object that is a tensor by its class; nothing is known of another."""
    row = library_models.row(owner.type_name)
    return _tensor_of(owner) if row is not None and name in row.fields else NOTHING


# -- effects -------------------------------------------------------------------------------------------------------


def _same(call: LibraryCall) -> Value:
    """Gives back its argument."""
    if call.effect.argument == "self":
        return call.receiver or NOTHING
    argument = call.argument()
    return argument.value if argument is not None else NOTHING


def _made(call: LibraryCall) -> Value:
    """Made in host memory, whatever the default device is, or where an argument says."""
    if call.is_unknown():
        return NOTHING
    told = _told(call)
    device = told
    if device is None:
        device = UNKNOWN if call.site.unpacks else call.walk.state.factory_device if call.effect.default else CPU
    # Bare is what could have been put elsewhere by the call itself: a file that is read, a text that is encoded could not.
    bare = told is None and device == CPU and (call.effect.default or bool(call.effect.device))
    origin = call.walk.step(StepKind.MADE, call.node, device, call.code, None, None, bare)
    return _given_back(call, lambda word: _one(word, device, replace(_TENSOR, device=device, origin=origin)))


def _beside(call: LibraryCall) -> Value:
    """A view or copy of a tensor, where that is; of a list of tensors, where they are."""
    argument = call.argument()
    value = argument.value if argument is not None else NOTHING
    if isinstance(value, Container):
        value = item_of(call.walk, value, None)
    if not isinstance(value, (Tensor, Opaque)):
        return NOTHING
    if len(call.effect.gives) == 1:
        return value
    return _given_back(call, lambda word: value if word == "tensor" else Host())


def _meets(call: LibraryCall) -> Value:
    """Its tensors meet as the operands of an operation do."""
    operation = semantics.function(call.effect.as_function or call.name)
    if not isinstance(operation, Operation):
        return NOTHING
    role = next((p.name for p in operation.parameters if p.kind == "tensors"), None)
    if not call.effect.as_function or role is None:
        return perform(call.walk, call.node, operation, bind(operation, call.site), call=call.site)
    tensors = [a for a in call.site.positional if isinstance(a.value, (Tensor, Opaque))]
    if not tensors:
        return NOTHING
    bound = [Bound(role, a.value, a.node, strict=True) for a in tensors]
    return perform(call.walk, call.node, operation, bound, call=call.site)


def _host(call: LibraryCall) -> Value:
    """Reads its arguments on the host and computes an array of them."""
    for argument in call.site.arguments:
        host_read(call.walk, call.node, call.name, argument.value, wants_cpu=True, expression=argument.node)
    return array_of(*(argument.value for argument in call.site.arguments))


def _plain(call: LibraryCall) -> Value:
    """A plain value; no data is read for it."""
    return Host()


def _module(call: LibraryCall) -> Value:
    """A Module, made where a bare factory makes tensors."""
    owner, _, last = call.name.rpartition(".")
    type_name = owner if last[:1].islower() and owner.rpartition(".")[2][:1].isupper() else call.name
    told = _told(call)
    if told is None:
        told = UNKNOWN if call.is_unknown() else call.walk.state.factory_device
    device = told
    origin = call.walk.step(StepKind.MADE, call.node, device, call.name)
    return Module(device, type_name, None, origin, holds_state=call.effect.state)


def _placer(call: LibraryCall) -> Value:
    """An object whose ``device`` is wherever the process runs."""
    if call.is_unknown():
        return NOTHING
    row = library_models.row(call.name)
    name = row.name if row is not None else call.name
    return placed_anywhere(call.walk, call.node, name, name.rpartition(".")[2].lower())


def _object(call: LibraryCall) -> Value:
    """An object of a class that is no Module, known by its name; of one that follows its arguments, where they are."""
    row = library_models.row(call.name)
    name = row.name if row is not None else call.name
    if not call.effect.follows:
        return Instance(name, node=call.node)
    given = [call.site.argument(name, position) for position, name in enumerate(call.effect.follows)]
    found = [argument for argument in given if argument is not None]
    placed = _followed(call, [argument.value for argument in found])
    parts = tuple(argument for argument in found if isinstance(argument.value, Tensor))
    details: tuple[tuple[str, Value], ...] = (("placed", placed),)
    if len(parts) > 1:
        details += (("parts", Partial(NOTHING, parts)),)
    return Instance(name, device=placed.device, node=call.node, details=details)


def _followed(call: LibraryCall, values: list[Value]) -> Tensor:
    """What stands for an object's tensors: the first of the arguments that it follows; all numbers are made bare."""
    found = next((v for v in values if isinstance(v, (Tensor, Opaque))), None)
    if found is not None:
        dims = [v.dim for v in values if isinstance(v, Tensor)]
        dim = Dim.NONZERO if Dim.NONZERO in dims else Dim.ZERO if set(dims) == {Dim.ZERO} else Dim.UNKNOWN
        return Tensor(found.device, dim, origin=found.origin)
    device = call.walk.state.factory_device
    if call.site.unpacks or not values or not all(map(_is_number, values)):
        device = UNKNOWN
    origin = call.walk.step(StepKind.MADE, call.node, device, call.code, None, None, device == CPU)
    return Tensor(device, Dim.ZERO, origin=origin)


def _is_number(value: Value) -> bool:
    return (isinstance(value, Constant) and isinstance(value.value, (int, float))) or (
        isinstance(value, Host) and value.number
    )


def _placed(call: LibraryCall) -> Value:
    """Gives back what it is given, brought to where its receiver is."""
    if call.is_unknown():
        return NOTHING
    device = _place(call.receiver) if call.receiver is not None else process(call).device
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
    origin = call.walk.step(StepKind.MOVED, call.node, device, f"{call.code}()", getattr(value, "origin", None))
    if isinstance(value, (Module, Tensor)):
        return replace(value, device=device, origin=origin)
    return Opaque(device, origin)


def _moved(call: LibraryCall) -> Value:
    """Gives back its argument, brought to where another says; to the process's device where none does."""
    argument = call.argument()
    if argument is None or call.is_unknown():
        return NOTHING
    device = CPU if call.effect.place == "cpu" else _told(call)
    if device is None and not call.effect.default:
        return argument.value
    return _brought(call, argument.value, process(call).device if device is None else device)


def _device(call: LibraryCall) -> Value:
    """The device that the library runs this process on."""
    return process(call)


def process(call: LibraryCall) -> DeviceName:
    """The device that a library runs a process on: one for all of its functions, and nobody else's."""
    text = f"{call.name.partition('.')[0]}'s device"
    return DeviceName(SameAs(Symbol(Anchor.EXPRESSION, text, text)), None, call.code)


def _there(call: LibraryCall) -> Value:
    """Made where its receiver is; the tensors that the receiver was made of meet."""
    tensor = _tensor_of(call.receiver)
    _meet_parts(call)
    if call.site.arguments:
        # ``sample(shape)``
        tensor = replace(tensor, dim=Dim.NONZERO)
    return _given_back(call, lambda word: _one(word, tensor.device, tensor))


def _met(call: LibraryCall) -> Value:
    """Computes with an argument and its receiver's tensors, which all meet."""
    _meet_parts(call)
    argument, function = call.argument(), call.node.func
    own = _tensor_of(call.receiver)
    if argument is None or not isinstance(function, cst.Attribute):
        return NOTHING
    bound = [
        Bound("self", argument.value, argument.node, strict=True),
        Bound("other", own, function.value, strict=True),
    ]
    result = perform(call.walk, call.node, semantics.operator("-"), bound, call=call.site)
    return result if call.effect.gives == ("tensor",) else _given_back(call, lambda word: _one(word, own.device, own))


def _meet_parts(call: LibraryCall) -> None:
    """Each is made as large as the largest before: a 0-dim one is none any more beside one that is not."""
    parts = dict(call.receiver.details).get("parts") if isinstance(call.receiver, Instance) else None
    if not isinstance(parts, Partial):
        return
    tensors = [(a.value, a.node) for a in parts.arguments if isinstance(a.value, Tensor)]
    large = any(tensor.dim is Dim.NONZERO for tensor, _ in tensors)
    values = [(replace(tensor, dim=Dim.NONZERO if large else Dim.UNKNOWN), node) for tensor, node in tensors]
    for (first, first_node), (second, second_node) in pairwise(values):
        bound = [Bound("self", first, first_node, strict=True), Bound("other", second, second_node, strict=True)]
        perform(call.walk, call.node, semantics.operator("+"), bound, call=call.site)


def _tensor_of(value: Value | None) -> Tensor:
    """What stands for the tensors of an object."""
    placed = dict(value.details).get("placed") if isinstance(value, Instance) else None
    return placed if isinstance(placed, Tensor) else Tensor(_place(value), origin=getattr(value, "origin", None))


def _call(call: LibraryCall) -> Value:
    """The call of its receiver, a Module, under another name."""
    function = call.node.func
    if not isinstance(call.receiver, Module) or not isinstance(function, cst.Attribute):
        return NOTHING
    return call_module(call.walk, call.node, call.receiver, function.value, call.site)


def _calls(call: LibraryCall) -> Value:
    """Calls its first argument with the others; ``unless`` names those that are its own."""
    return call_first(call.walk, call.node, call.site, call.effect.unless)


def _context(call: LibraryCall) -> Value:
    """A context, which is looked at when it is entered."""
    told = _told(call)
    device = told if told is not None else _place(call.receiver)
    owner = call.receiver.type_name + "." if isinstance(call.receiver, Instance) else ""
    return Instance(owner + call.name, device=device, node=call.node)


_EFFECTS: dict[str, Interpret] = {
    "same": _same,
    "made": _made,
    "beside": _beside,
    "meets": _meets,
    "host": _host,
    "plain": _plain,
    "module": _module,
    "placer": _placer,
    "object": _object,
    "placed": _placed,
    "moved": _moved,
    "device": _device,
    "there": _there,
    "met": _met,
    "call": _call,
    "calls": _calls,
    "context": _context,
}

_TENSOR = Tensor(UNKNOWN, Dim.NONZERO)


def _told(call: LibraryCall) -> Device | None:
    """The place that an argument names; None where it is not given."""
    if not call.effect.device:
        return None
    argument = call.site.argument(call.effect.device, call.effect.position)
    if argument is None or (isinstance(argument.value, Constant) and argument.value.value is None):
        return None
    if call.effect.name == "module":
        # ``device_map="auto"`` is no device, nor is a map of several.
        named = name_of_constant(argument.value) if isinstance(argument.value, Constant) else None
        return named.device if named is not None else UNKNOWN
    return resolve_device(call.walk, argument.value, argument.node, Sink.ARGUMENT, call.site)


def _given_back(call: LibraryCall, one: Callable[[str], Value]) -> Value:
    words = call.effect.gives
    return one(words[0]) if len(words) == 1 else Container(tuple(map(one, words)), None, None, "tuple")


def _one(word: str, device: Device, tensor: Tensor) -> Value:
    match word:
        case "tensor":
            return tensor
        case "batch":
            return Opaque(device, tensor.origin)
        case "module":
            return Module(device, origin=tensor.origin)
        case _:
            return Host()


def _place(value: Value | None) -> Device:
    return value.device if isinstance(value, (Instance, Module, Tensor, Opaque)) else UNKNOWN
