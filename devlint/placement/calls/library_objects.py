"""Objects of libraries: identified by their class, on the device of their arguments or of the process."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls.library_call import LibraryCall, given_back, one_value, place_of
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
    Value,
    as_tensor,
)
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, SameAs, Symbol
from devlint.placement.domain.provenance import Step, StepKind, extend
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.operands import Bound
from devlint.placement.syntax.nodes import FunctionNode, descend, path_of
from devlint.records import replace
from devlint.semantics import Dim, library_models

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def placed_anywhere(interp: Interpreter, node: cst.CSTNode, class_name: str, name: str) -> Instance:
    """An object whose ``device`` is that of the process, identified by its node; two such devices may differ."""
    text = f"{name}.device"
    device = SameAs(Symbol(Anchor.EXPRESSION, text, f"{interp.scope.qualname}:{text}@{id(node)}"))
    return Instance(class_name, device=device, node=node, details=(("device", DeviceName(device, None, text)),))


def given(interp: Interpreter, parameter: cst.Param, class_name: str, name: str) -> Value | None:
    """An argument annotated with a library's class; None if the table does not list its device."""
    row = library_models.row(class_name)
    if row is None or row.effect is None or row.effect.name != "placer":
        return None
    return placed_anywhere(interp, parameter, row.name, name)


_AXES = frozenset({"ax", "axs", "axes"})


def is_drawn_on(interp: Interpreter, parameter: cst.Param) -> bool:
    """Whether an argument is what matplotlib draws on: by its annotation, or by the name that everybody has for it."""
    if parameter.annotation is None:
        return parameter.name.value in _AXES and any(map(_is_of_plots, interp.index.imports.values()))
    stated = path_of(parameter.annotation.annotation) or ""
    return stated.endswith("Axes") and _is_of_plots(interp.index.qualified(stated))


def _is_of_plots(name: str) -> bool:
    return name.partition(".")[0] == "matplotlib"


def placer(call: LibraryCall) -> Value:
    """An object whose ``device`` is that of the process."""
    if call.is_unknown():
        return NOTHING
    row = library_models.row(call.name)
    name = row.name if row is not None else call.name
    return placed_anywhere(call.interp, call.node, name, name.rpartition(".")[2].lower())


def object_of_class(call: LibraryCall) -> Value:
    """An object of a library class other than Module; on its arguments' device if it follows them."""
    row = library_models.row(call.name)
    owner, _, last = call.name.rpartition(".")
    name = row.name if row is not None else owner if last[:1].islower() else call.name
    if call.effect.place == "cpu":
        made = Step(StepKind.MADE, call.node, call.interp.scope, CPU, call.code, of_object=True)
        kept = Tensor(CPU, Dim.NONZERO, provenance=extend(None, made))
        return Instance(name, device=CPU, node=call.node, details=(("placed", kept),))
    if not call.effect.follows:
        return Instance(name, node=call.node)
    given = [call.site.argument(name, position) for position, name in enumerate(call.effect.follows)]
    found = [argument for argument in given if argument is not None]
    placed = _followed(call, [argument.value for argument in found])
    parts = tuple(part for argument in found if isinstance((part := _made_of_tensor(argument)).value, Tensor))
    details: tuple[tuple[str, Value], ...] = (("placed", placed),)
    if call.effect.keeps:
        named = ((argument.keyword, argument.value) for argument in call.site.arguments)
        details += tuple((name, value) for name, value in named if name is not None and value != NOTHING)
    elif len(parts) > 1:
        details += (("parts", Partial(NOTHING, parts)),)
    return Instance(name, device=placed.device, node=call.node, details=details)


def chain(call: LibraryCall) -> Value:
    """Steps that are run one after the other: as to places, the one of them that makes a tensor of what is none."""
    argument = call.argument()
    steps = argument.value if argument is not None else NOTHING
    if not isinstance(steps, Container) or steps.rest is not None:
        return NOTHING
    known = [step for step in steps.items if isinstance(step, (Instance, Module))]
    return next((step for step in known if _makes(step)), NOTHING) if len(known) == len(steps.items) else NOTHING


def _makes(step: Instance | Module) -> bool:
    row = library_models.row(step.type_name) if isinstance(step, Instance) else None
    called = row.methods.get("__call__") if row is not None else None
    return called is not None and called.name == "made"


def _made_of_tensor(argument: Argument) -> Argument:
    """What was moved, or computed by a model, is a tensor where a parameter of a distribution is made of it."""
    value = argument.value
    if not isinstance(value, Opaque) or not (value.moved or value.tensorlike):
        return argument
    return replace(argument, value=as_tensor(value))


def _followed(call: LibraryCall, values: list[Value]) -> Tensor:
    """A tensor that represents the object's tensors: the first argument it follows; for numbers, one created bare."""
    found = next((v for v in values if isinstance(v, (Tensor, Opaque))), None)
    if found is not None:
        dims = [v.dim for v in values if isinstance(v, Tensor)]
        dim = Dim.NONZERO if Dim.NONZERO in dims else Dim.ZERO if set(dims) == {Dim.ZERO} else Dim.UNKNOWN
        return Tensor(found.device, dim, provenance=found.provenance)
    device = call.interp.state.factory_device
    if call.site.unpacks or not values or not all(map(_is_number, values)):
        device = UNKNOWN
    made = Step(StepKind.MADE, call.node, call.interp.scope, device, call.code, bare=device == CPU, of_object=True)
    provenance = extend(None, made)
    return Tensor(device, Dim.ZERO, provenance=provenance)


def _is_number(value: Value) -> bool:
    return (isinstance(value, Constant) and isinstance(value.value, (int, float))) or (
        isinstance(value, Host) and value.number
    )


def there(call: LibraryCall) -> Value:
    """Created on its receiver's device; the tensors that the receiver was constructed from are checked together."""
    tensor = tensor_of(call.receiver)
    _check_parts(call)
    if call.site.arguments:
        # ``sample(shape)``
        tensor = replace(tensor, dim=Dim.NONZERO)
    return given_back(call, lambda word: one_value(word, tensor.device, tensor))


def met(call: LibraryCall) -> Value:
    """Computed from an argument and its receiver's tensors, which are checked together."""
    _check_parts(call)
    argument, function = call.argument(), call.node.func
    own = tensor_of(call.receiver)
    if argument is None or not isinstance(function, cst.Attribute):
        return NOTHING
    bound = [
        Bound("self", argument.value, argument.node, strict=True),
        Bound("other", own, function.value, strict=True),
    ]
    return perform(call.interp, call.node, semantics.operator("-"), bound, call=call.site)


def _check_parts(call: LibraryCall) -> None:
    """The tensors are expanded to one shape: a 0-dim tensor together with a larger one is no longer 0-dim."""
    parts = dict(call.receiver.details).get("parts") if isinstance(call.receiver, Instance) else None
    if not isinstance(parts, Partial):
        return
    tensors = [(a.value, a.node) for a in parts.arguments if isinstance(a.value, Tensor)]
    large = any(tensor.dim is Dim.NONZERO for tensor, _ in tensors)
    values = [(replace(tensor, dim=Dim.NONZERO if large else Dim.UNKNOWN), node) for tensor, node in tensors]
    for (first, first_node), (second, second_node) in pairwise(values):
        bound = [Bound("self", first, first_node, strict=True), Bound("other", second, second_node, strict=True)]
        perform(call.interp, call.node, semantics.operator("+"), bound, call=call.site)


def tensor_of(value: Value | None) -> Tensor:
    """A tensor that represents the tensors of an object."""
    placed = dict(value.details).get("placed") if isinstance(value, Instance) else None
    return (
        placed if isinstance(placed, Tensor) else Tensor(place_of(value), provenance=getattr(value, "provenance", None))
    )


def field(interp: Interpreter, owner: Instance, name: str, node: cst.Attribute) -> Value:
    """An attribute that the object's class declares as a tensor; unknown for other attributes."""
    row = library_models.row(owner.type_name)
    if row is None or name not in row.fields:
        return NOTHING
    kept = tensor_of(owner)
    made = kept.provenance.first.scope if kept.provenance is not None else None
    if row.effect is None or row.effect.place != "cpu" or made == interp.scope:
        return kept
    brought = frozenset(method for method, effect in row.methods.items() if effect.brings)
    return NOTHING if _may_be_brought(interp, node, brought) else kept


def may_have_changed(interp: Interpreter, owner: Instance, node: cst.Attribute) -> bool:
    """Whether an object that keeps what it is given may have been moved since, by a function that gives nothing back.

    So may what another method made; and what is stored under a key may be any of its attributes.
    """
    row = library_models.row(owner.type_name) if owner.info is None and owner.details else None
    if row is None or row.effect is None or not row.effect.keeps or interp.info is None:
        return False
    path = path_of(node.value) or ""
    made_elsewhere = "." in path and path not in interp.state.values
    return made_elsewhere or path in interp.info.find(_changed_by_statements)


def _changed_by_statements(node: FunctionNode) -> frozenset[str]:
    """What statements that are no more than a call are handed, ``bring(data, device)``, and whose items are stored."""
    found: set[str | None] = set()
    for child in descend(node.body):
        if isinstance(child, cst.Expr) and isinstance(child.value, cst.Call) and path_of(child.value.func) != "print":
            found.update(path_of(argument.value) for argument in child.value.args)
        elif isinstance(child, cst.AssignTarget) and isinstance(child.target, cst.Subscript):
            found.add(path_of(child.target.value))
    return frozenset(path for path in found if path is not None)


def with_field(owner: Value, name: str, value: Value) -> Instance | None:
    """The object after ``owner.loc = owner.loc.to(device)``: what it draws is where its parameters are put.

    None for other owners, and for attributes that its class does not declare as tensors.
    """
    row = library_models.row(owner.type_name) if isinstance(owner, Instance) and owner.info is None else None
    if row is None or name not in row.fields or not isinstance(owner, Instance):
        return None
    if not isinstance(value, (Tensor, Opaque)) or value.device == CPU:
        # The others may be elsewhere: what is to mend is not known.
        return replace(owner, device=UNKNOWN, details=())
    dim = value.dim if isinstance(value, Tensor) else Dim.UNKNOWN
    placed = Tensor(value.device, dim, provenance=value.provenance)
    return replace(owner, device=value.device, details=(("placed", placed),))


def _may_be_brought(interp: Interpreter, field: cst.Attribute, methods: frozenset[str]) -> bool:
    """Whether the tensors of an object that another definition made may have been moved since.

    Not those of an object that ``self`` keeps, where no method of the class calls one that moves them or replaces them.
    """
    path = path_of(field.value)
    owner = interp.info.owner if interp.info is not None else None
    if owner is None or path is None or not path.startswith("self."):
        return True
    name = path.split(".")[1]
    bodies = [method.node.body for method in owner.mentioning(name)]
    return any(_brings(child, path, field, methods) for body in bodies for child in descend(body))


def _brings(node: cst.CSTNode, path: str, field: cst.Attribute, methods: frozenset[str]) -> bool:
    if isinstance(node, cst.AssignTarget):
        return path_of(node.target) == path_of(field)
    if not isinstance(node, cst.Call):
        return False
    if isinstance(node.func, cst.Attribute) and node.func.attr.value in methods:
        return path_of(node.func.value) == path
    return any(path_of(argument.value) == path for argument in node.args)


def bring_along(call: LibraryCall) -> None:
    """The tensors that the receiver keeps go to where the first argument is."""
    function, receiver = call.node.func, call.receiver
    path = path_of(function.value) if isinstance(function, cst.Attribute) else None
    if path is None or not isinstance(receiver, Instance):
        return
    first = call.argument()
    value = first.value if first is not None else NOTHING
    device = value.device if isinstance(value, (Tensor, Opaque)) else UNKNOWN
    step = call.interp.step(StepKind.MOVED, call.node, device, f"{call.code}()", tensor_of(receiver).provenance)
    kept = Tensor(device, Dim.NONZERO, provenance=step)
    call.interp.state.store(path, replace(receiver, device=device, details=(("placed", kept),)))
