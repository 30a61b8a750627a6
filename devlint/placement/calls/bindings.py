"""Assignments: names, attributes, items, unpacking, loop targets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls.constructor_facts import is_buffer, note_attribute
from devlint.placement.calls.library_objects import with_field
from devlint.placement.calls.own_attributes import iteration
from devlint.placement.calls.records import as_sequence
from devlint.placement.calls.shared_containers import change_in_others
from devlint.placement.calls.told_loaders import source_of
from devlint.placement.declarations.evidence_conventions import (
    CONVENTIONS,
    ITEMS_ARE_TENSORS,
    OF_ANOTHER_CLASS,
    PARTS_OF_A_BATCH,
    draws_from_a_loader,
    names_a_loader,
)
from devlint.placement.declarations.evidence_names import names_written_things
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Constant,
    Container,
    DeviceName,
    Evidence,
    Host,
    Kind,
    Module,
    Opaque,
    Self,
    Tensor,
    UnknownValue,
    Value,
)
from devlint.placement.domain.device_names import name_of_constant
from devlint.placement.domain.events import Stored
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Anchor,
    Choice,
    Device,
    GuardKind,
    SameAs,
    Symbol,
    Unknown,
    batch_of,
    is_accelerator,
)
from devlint.placement.domain.provenance import StepKind, rests_on, was_moved
from devlint.placement.domain.value_join import any_item, join_values
from devlint.placement.operations import frames
from devlint.placement.operations.encoded import is_encoded
from devlint.placement.operations.operands import device_of_value, provenance_of
from devlint.placement.operations.subscripts import is_edge_index, write_item
from devlint.placement.state.host_reads import read_for_array
from devlint.placement.state.put_by_methods import note_filled
from devlint.placement.state.refusals import note_refused
from devlint.placement.syntax.nodes import code_of, dotted, inner_nodes, literal, path_of
from devlint.records import replace
from devlint.semantics import Dim, Elements

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


_DRAWN = frozenset({cst.Subscript, cst.Attribute, cst.Call})


def assign(
    interp: Interpreter, target: cst.BaseExpression, value: Value, value_node: cst.BaseExpression | None
) -> None:
    """``target = value`` for any target; the event has the target's source text."""
    value = _chosen_device(interp, target, value)
    if type(target) is cst.Name:
        drawn = value_node is None or type(value_node) in _DRAWN
        if drawn and isinstance(value, Opaque) and _is_used_as_tensor(interp, target.value, value):
            value = _as_tensor(value, certain=value.tensorlike)
        elif isinstance(value, UnknownValue) and target.value in interp.uses.tensors:
            # Where it is nobody knows, but it is moved by value.
            value = Tensor(UNKNOWN, evidence=Evidence.LIKELY)
        interp.state.store(target.value, value)
        of_class = interp.class_body
        interp.emit(Stored(target, interp.scope, target.value, value, None, None, value_node, interp.arms, of_class))
        if interp.info is None and not interp.class_body:
            interp.program.bind_global(target.value, value)
        elif interp.info is None and isinstance(value, (Tensor, DeviceName)):
            interp.program.bind_global(f"{interp.class_body}.{target.value}", value)
    elif type(target) is cst.Attribute:
        _assign_attribute(interp, target, value, value_node)
    elif type(target) is cst.Subscript:
        _assign_item(interp, target, value, value_node)
    elif isinstance(target, (cst.Tuple, cst.List)):
        _unpack(interp, target, value, value_node)


def returned_device(interp: Interpreter, node: cst.Return, value: Value) -> Value:
    """``return "cuda"`` behind a test for an accelerator, in a function that returns the CPU elsewhere."""
    chosen = _chosen_device(interp, node, value)
    if chosen is value or interp.info is None:
        return value
    returns = (part for part in inner_nodes(interp.info.node, into_definitions=False) if type(part) is cst.Return)
    others = (part.value for part in returns if part is not node and part.value is not None)
    return chosen if any(_CPU.search(code_of(one)) for one in others) else value


_CPU = re.compile(r"""["']cpu["':]""")


def _chosen_device(interp: Interpreter, target: cst.CSTNode, value: Value) -> Value:
    """``device = torch.device("cuda:0")`` behind a test for an accelerator: the form of ``a if test else b``."""
    if not isinstance(value, (Constant, DeviceName)) or not interp.state.on_accelerator:
        return value
    tests = (decided.guard for decided in interp.decided if decided.guard.kind is GuardKind.ON_ACCELERATOR)
    if any(guard.subject is not None for guard in tests):
        # A test of one tensor, not of what the machine has. A switch before it, `if USE_MPS:`, is none.
        return value
    named = name_of_constant(value) if isinstance(value, Constant) else value
    if named is None or not is_accelerator(named.device):
        return value
    before = interp.state.values.get(target.value) if type(target) is cst.Name else None
    or_none = isinstance(before, Constant) and before.value is None
    return replace(named, chosen_by_probe=True, or_none=or_none)


def _is_used_as_tensor(interp: Interpreter, name: str, value: Opaque) -> bool:
    """Of what counts as a tensor already, if nothing speaks against it, only uses that nothing else has tell more."""
    return name in (interp.uses.certain if value.tensorlike else interp.uses.tensors)


def _as_tensor(value: Opaque, *, certain: bool) -> Tensor:
    """The opaque value as a tensor; a value from a loader has a batch dimension."""
    dim = Dim.NONZERO if batch_of(value.device) is not None else Dim.UNKNOWN
    evidence = Evidence.CERTAIN if certain else Evidence.LIKELY
    return Tensor(value.device, dim, evidence=evidence, provenance=value.provenance)


def _assign_attribute(
    interp: Interpreter, target: cst.Attribute, value: Value, value_node: cst.BaseExpression | None
) -> None:
    owner = interp.evaluate(target.value)
    path = path_of(target)
    name = target.attr.value
    if isinstance(owner, Self) and isinstance(value, Tensor) and is_buffer(interp, owner.info, name):
        # On a Module, assigning a tensor to the name of a buffer replaces the buffer.
        value = replace(value, kind=Kind.BUFFER)
    interp.emit(Stored(target, interp.scope, code_of(target), value, owner, name, value_node, interp.arms))
    if isinstance(owner, Self):
        note_attribute(interp, owner, name, value, target)
    if path is not None:
        interp.state.store(path, value)
    base = path_of(target.value)
    if base is not None and (written := with_field(owner, name, value)) is not None:
        interp.state.values[base] = written
    if name == "data" and base is not None and isinstance(owner, Tensor) and isinstance(value, (Tensor, Opaque)):
        # ``t.data = t.data.to(device)`` moves ``t`` itself.
        interp.state.store(base, replace(owner, device=value.device, provenance=value.provenance))
    if name == "data":
        _replace_state(interp, target.value, value)


def _replace_state(interp: Interpreter, parameter: cst.BaseExpression, value: Value) -> None:
    """``cell.weight.data = other.weight.data``: the module is no longer where it was made."""
    path = path_of(parameter.value) if isinstance(parameter, cst.Attribute) else None
    module = interp.state.values.get(path) if path is not None else None
    if path is not None and isinstance(module, Module) and getattr(value, "device", UNKNOWN) != module.device:
        interp.state.values[path] = replace(module, device=UNKNOWN)


def _assign_item(
    interp: Interpreter, target: cst.Subscript, value: Value, value_node: cst.BaseExpression | None
) -> None:
    owner = interp.evaluate(target.value)
    key = None
    if len(target.slice) == 1 and isinstance(target.slice[0].slice, cst.Index):
        try:
            key = literal(target.slice[0].slice.value)
        except ValueError:
            key = None
    interp.emit(
        Stored(
            target,
            interp.scope,
            code_of(target),
            value,
            owner,
            key if isinstance(key, str) else None,
            value_node,
            interp.arms,
        )
    )
    if frames.is_of_rows(interp, target.value):
        read_for_array(interp, target, 0, value, value_node)
    elif isinstance(owner, Opaque) and frames.frame_of(target.value):
        frames.write(interp, target, owner, value, value_node)
    elif isinstance(owner, (Tensor, Opaque)) and not isinstance(key, str):
        write_item(interp, target, owner, value, value_node)
        _mix(interp, target, owner, value, key)
        return
    elif isinstance(owner, Host) and owner.numpy:
        read_for_array(interp, target, owner.dims, value, value_node)
    for element in target.slice:
        if isinstance(element.slice, cst.Index):
            interp.evaluate(element.slice.value)
    path = path_of(target)
    base = path_of(target.value)
    if base is not None and isinstance(owner, Opaque) and is_encoded(owner) and was_moved(provenance_of(value)):
        # `encoded["ids"] = encoded["ids"].to(device)`: one by one, all of it is brought over.
        interp.state.values[base] = replace(owner, device=device_of_value(value), provenance=provenance_of(value))
    if isinstance(owner, Container):
        note_filled(interp, target.value, value, target)
        if base is not None:
            changed = with_item(owner, key, value)
            change_in_others(interp, base, owner, changed)
            if path is None:
                interp.state.store(base, changed)
            else:
                interp.state.values[base] = changed
    if path is not None and not isinstance(owner, Tensor):
        interp.state.store(path, value)


def with_item(owner: Container, key: object, value: Value) -> Container:
    """The container after ``owner[key] = value``; ``key`` is None if it is not a literal: any item may change."""
    if owner.keys is not None and key in owner.keys:
        position = owner.keys.index(key)
    elif owner.keys is None and isinstance(key, int) and owner.rest is None and 0 <= key < len(owner.items):
        position = key
    elif owner.keys is not None and isinstance(key, str):
        return replace(owner, items=(*owner.items, value), keys=(*owner.keys, key))
    elif key is not None:
        return replace(owner, rest=value if owner.rest is None else join_values(None, owner.rest, value))
    else:
        items = tuple(join_values(None, item, value) for item in owner.items)
        if items:
            return replace(owner, items=items, rest=NOTHING)
        return replace(owner, rest=value if owner.rest is None else join_values(None, owner.rest, value))
    return replace(owner, items=(*owner.items[:position], value, *owner.items[position + 1 :]))


def _mix(interp: Interpreter, target: cst.Subscript, owner: Tensor | Opaque, value: Value, key: object) -> None:
    """``batch[k] = batch[k].to(device)`` with a key that is not a literal: any item may be elsewhere afterwards."""
    base = path_of(target.value)
    if base is None or key is not None or not isinstance(owner, Opaque) or owner.tensorlike:
        return
    if isinstance(value, (Tensor, Opaque)) and value.device != owner.device:
        interp.state.store(base, replace(owner, device=UNKNOWN))


def _unpack(
    interp: Interpreter, target: cst.Tuple | cst.List, value: Value, value_node: cst.BaseExpression | None
) -> None:
    literal_values = (
        [element.value for element in value_node.elements]
        if isinstance(value_node, (cst.Tuple, cst.List)) and len(value_node.elements) == len(target.elements)
        else [None] * len(target.elements)
    )
    value = as_sequence(value)
    if _is_of_another_length(target, value):
        note_refused(interp, target)
    if isinstance(value, UnknownValue) and _is_drawn(value_node) and _moves_some(interp, target):
        value = _batch(interp, target, value_node)
    for position, (element, node) in enumerate(zip(target.elements, literal_values, strict=True)):
        if isinstance(element, cst.StarredElement):
            assign(interp, element.value, item_of(interp, value, None), None)
            continue
        item = _spread(value, position, len(target.elements)) or item_of(interp, value, position)
        if isinstance(item, Tensor) and value_node is not None and is_edge_index(value_node):
            item = replace(item, dim=Dim.NONZERO)
        elif isinstance(value, Opaque) and isinstance(item, Opaque) and _is_part_of_batch(interp, element.value, item):
            # Not so of a pair: in ``for step, data in enumerate(loader)`` the batch may be a graph.
            item = _tensor_by(interp, PARTS_OF_A_BATCH, target, item.device, Dim.NONZERO)
        elif isinstance(item, Opaque) and _is_written(interp, element.value, item):
            item = Host()
        assign(interp, element.value, item, node)


def _is_of_another_length(target: cst.Tuple | cst.List, value: Value) -> bool:
    """``a, b, c = pair``: a tuple that is written out has as many items as it is written with."""
    if not isinstance(value, Container) or not isinstance(value.node, cst.Tuple) or value.rest is not None:
        return False
    starred = any(isinstance(element, cst.StarredElement) for element in target.elements)
    least = len(target.elements) - starred
    return len(value.items) < least if starred else len(value.items) != least


def _is_part_of_batch(interp: Interpreter, target: cst.BaseExpression, item: Opaque) -> bool:
    """``images``, of ``for images, labels in loader``, which a method moves: no graph, no encoding of texts."""
    batch = batch_of(item.device)
    if batch is None or item.tensorlike or not isinstance(target, cst.Name) or not draws_from_a_loader(batch.source):
        return False
    return target.value in interp.uses.moved and target.value not in interp.uses.structured


def _is_written(interp: Interpreter, target: cst.BaseExpression, item: Opaque) -> bool:
    """``texts``, of ``for texts, labels in loader``, where nothing is done with them that is done with tensors."""
    if batch_of(item.device) is None or item.tensorlike or not isinstance(target, cst.Name):
        return False
    name, uses = target.value, interp.uses
    return names_written_things(name) and name not in uses.moved and name not in uses.tensors


def _spread(value: Value, position: int, count: int) -> Value | None:
    """``h, w, device = *x.shape, x.device``: what is written after what is spread goes to the last of the targets."""
    if not isinstance(value, Container) or value.rest is None or not isinstance(value.node, (cst.Tuple, cst.List)):
        return None
    starred = [isinstance(element, cst.StarredElement) for element in value.node.elements]
    if len(starred) != len(value.items) + 1 or sum(starred) != 1:
        return None
    before = starred.index(True)
    if position < before:
        return value.items[position]
    spread = count - len(value.items)
    return value.rest if position < before + spread else value.items[position - spread]


def _is_drawn(node: cst.BaseExpression | None) -> bool:
    """Whether what is unpacked is kept by a name, or handed out by ``next`` or the like: nothing computed it here."""
    if isinstance(node, cst.Call):
        name = node.func.attr.value if isinstance(node.func, cst.Attribute) else getattr(node.func, "value", "")
        return isinstance(name, str) and (name == "next" or any(part in name for part in ("batch", "load", "data")))
    return isinstance(node, (cst.Name, cst.Attribute, cst.Subscript))


def _moves_some(interp: Interpreter, target: cst.Tuple | cst.List) -> bool:
    names = (element.value.value for element in target.elements if isinstance(element.value, cst.Name))
    return any(name in interp.uses.moved for name in names)


def _batch(interp: Interpreter, target: cst.BaseExpression, node: cst.BaseExpression | None) -> Opaque:
    """One batch: its items come together, from where nobody has moved them yet."""
    source = source_of(interp, node) if node is not None else ""
    symbol = Symbol(Anchor.BATCH, code_of(target), f"{interp.scope.qualname}:batch:{id(node)}", source)
    device = SameAs(symbol)
    return Opaque(device, interp.step(StepKind.GIVEN, target, device, code_of(target)))


def item_of(interp: Interpreter, value: Value, key: object | None) -> Value:
    """The item of a value under a constant key or position; for None, any item."""
    if key is None and (passes := iteration(interp, value)) != NOTHING:
        return item_of(interp, passes, None)
    if isinstance(value, Container):
        return _item_of_container(value, key)
    if isinstance(value, Tensor):
        dim = Dim.NONZERO if value.least_dims > 1 else Dim.UNKNOWN
        return replace(value, dim=dim, elements=Elements.UNKNOWN, least_dims=max(value.least_dims - 1, 0))
    if isinstance(value, Opaque):
        return value
    if isinstance(value, Module):
        info = semantics.module(value.type_name)
        if info is not None and info.holds_parameters:
            return Tensor(value.device, kind=Kind.PARAMETER, provenance=value.provenance)
        if value.children and isinstance(key, int) and -len(value.children) <= key < len(value.children):
            return _child(value, value.children[key])
        return Module(value.device, provenance=value.provenance)
    if isinstance(value, Host):
        return replace(value, number=False)
    return NOTHING


def _child(parent: Module, child: Value) -> Value:
    """A submodule is on its parent's device, unless it was moved by itself."""
    if isinstance(child, Module) and child.device == CPU:
        return replace(child, device=parent.device)
    return child


def _item_of_container(value: Container, key: object | None) -> Value:
    if value.keys is not None and key is not None:
        return value.items[value.keys.index(key)] if key in value.keys else value.rest or NOTHING
    if isinstance(key, int) and value.rest is None and -len(value.items) <= key < len(value.items):
        return value.items[key]
    item = any_item(value)
    return NOTHING if item is None else item


def bind_loop_target(
    interp: Interpreter, target: cst.BaseExpression, iterable: Value, node: cst.BaseExpression
) -> None:
    """Bind one item of an iterable to a loop's target."""
    assign(interp, target, iterated(interp, iterable, target, node), None)


def iterated(interp: Interpreter, iterable: Value, target: cst.BaseExpression, node: cst.BaseExpression) -> Value:
    """One item of an iterable; what a loader yields is a batch nobody has moved yet."""
    if isinstance(iterable, Opaque) and _holds_tensors(interp, iterable, target, node):
        return _tensor_by(interp, ITEMS_ARE_TENSORS, target, iterable.device, Dim.UNKNOWN)
    if (dotted(node) or "").rpartition(".")[2] == "param_groups":
        # Of an optimizer: numbers, and under "params" the parameters.
        return NOTHING
    placed = isinstance(node, cst.Name) and node.value in interp.uses.placed  # no loader has a `.device`
    loads = _is_loader(iterable) and not _is_view_of_dict(node) and not _is_transposed(node) and not placed
    if isinstance(iterable, UnknownValue) or loads or _is_called_loader(iterable, node):
        return _batch(interp, target, node)
    if isinstance(iterable, Module) and (info := semantics.module(iterable.type_name)) is not None and info.keyed:
        return Host()
    if isinstance(iterable, Container) and iterable.type == "dict":
        return Constant("") if not iterable.items and iterable.rest is None else Host()
    return item_of(interp, iterable, None)


def _tensor_by(interp: Interpreter, convention: str, target: cst.BaseExpression, device: Device, dim: Dim) -> Tensor:
    """What a convention says to be a tensor; it comes in at the target."""
    provenance = interp.step(StepKind.GIVEN, target, device, code_of(target), note=CONVENTIONS[convention])
    return Tensor(device, dim, evidence=Evidence.LIKELY, provenance=provenance)


def _holds_tensors(interp: Interpreter, iterable: Opaque, target: cst.BaseExpression, node: cst.BaseExpression) -> bool:
    """An argument whose items are used as only tensors can be, and are moved nowhere: where the caller has them."""
    if not isinstance(target, cst.Name) or not isinstance(node, cst.Name) or not _is_loader(iterable):
        return False
    used_as_tensor = target.value in interp.uses.certain and target.value not in interp.uses.moved
    return used_as_tensor and not names_a_loader(node.value)


def _is_loader(value: Value) -> bool:
    """Whether an argument is iterated and never used as a tensor, nor part of what has a tensor's methods."""
    return (
        isinstance(value, Opaque)
        and not value.tensorlike
        and not rests_on(value.provenance, CONVENTIONS[OF_ANOTHER_CLASS])
        and isinstance(value.device, SameAs)
        and value.device.symbol.anchor is Anchor.PARAMETER
    )


def _is_view_of_dict(node: cst.BaseExpression) -> bool:
    """``x.values()``, ``x.items()``: no loader is a dict."""
    function = node.func if isinstance(node, cst.Call) and not node.args else None
    return isinstance(function, cst.Attribute) and function.attr.value in ("values", "items")


def _is_transposed(node: cst.BaseExpression) -> bool:
    """``for column in x.T``: no loader has rows and columns."""
    return isinstance(node, cst.Attribute) and node.attr.value in ("T", "mT")


def _is_called_loader(value: Value, node: cst.BaseExpression) -> bool:
    """Whether a value of unknown device is named like a loader: an argument in one arm, derived from it in another."""
    unplaced = isinstance(value, Opaque) and not value.tensorlike and isinstance(value.device, (Choice, Unknown))
    return unplaced and "loader" in code_of(node).lower()


def delete(interp: Interpreter, target: cst.BaseExpression) -> None:
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            delete(interp, element.value)
        return
    path = path_of(target)
    if path is not None:
        interp.state.store(path, NOTHING)
