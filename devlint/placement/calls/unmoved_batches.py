"""A model that was moved, called with what nobody moved: loaders collate on the CPU, so both have to be moved.

So have all that came together, if one of them is moved to the model's place: ``x, edges = graph.x, graph.edges``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls import handed_on
from devlint.placement.calls.conventional_results import computes
from devlint.placement.calls.module_inputs import brings_its_inputs, is_length, tell_apart
from devlint.placement.calls.moved_on_arrival import is_moved_on_arrival
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.evidence_conventions import draws_from_a_loader
from devlint.placement.declarations.evidence_names import names_a_sibling
from devlint.placement.declarations.parameter_evidence import Role
from devlint.placement.domain.abstract_values import Argument, Kind, Module, Opaque, Tensor
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import MismatchOperand
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, Device, SameAs, batch_of, is_accelerator
from devlint.placement.domain.provenance import was_moved
from devlint.placement.syntax.nodes import code_of, descend, parameters_of
from devlint.semantics import Dim

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def meet_unmoved_batch(interp: Interpreter, node: cst.Call, model: Opaque | Module, site: CallSite) -> None:
    """``model(x)`` after ``model.to(d)``, where ``x`` came with a batch and was not moved."""
    if interp.in_cpu_world or not was_moved(model.provenance) or model.device in (CPU, UNKNOWN):
        return
    if brings_its_inputs(interp, model, site):
        return
    for left in _left_behind(interp, model, site):
        _tell(interp, node, node.func, model, left)


def note_brought_by_forward(interp: Interpreter, model: Module, site: CallSite, result: Device) -> None:
    """Note that a model brings what came with a batch to its own place, and computes there: the rest stays behind.

    ``loss(model(x), y)``: what the loader collated beside ``x`` is still on the CPU.
    """
    if interp.in_cpu_world or model.device in (CPU, UNKNOWN) or result != model.device:
        return
    if not (was_moved(model.provenance) or is_accelerator(model.device)) or not brings_its_inputs(interp, model, site):
        return
    for argument in site.arguments:
        batch = batch_of(getattr(argument.value, "device", None))
        if batch is not None and draws_from_a_loader(batch.source):
            interp.state.moved_groups.setdefault(batch.key, result)


def meet_batch_in_method(
    interp: Interpreter, node: cst.Call, method: FunctionInfo, model: Module, site: CallSite
) -> None:
    """``model.loss(batch)`` after ``model.to(d)``, of a class in sight: it computes and brings nothing over."""
    if interp.in_cpu_world or not was_moved(model.provenance) or model.device in (CPU, UNKNOWN):
        return
    if not isinstance(node.func, cst.Attribute) or not computes(method.name) or _speaks_of_places(method):
        return
    expected = [parameter.name.value for parameter in parameters_of(method.header)[not method.is_static :]]
    for left in _left_behind(interp, model, site):
        position = site.arguments.index(left)
        name = left.keyword or (expected[position] if position < len(expected) else "")
        if name and not is_moved_on_arrival(interp.program, method, name):
            _tell(interp, node, node.func.value, model, left)
            return


def _speaks_of_places(method: FunctionInfo) -> bool:
    """Whether a method moves something, or reads a device: it may bring its arguments over where it uses them."""
    attributes = (part.attr.value for part in descend(method.node.body) if isinstance(part, cst.Attribute))
    names = (part.value for part in descend(method.node.body) if isinstance(part, cst.Name))
    return any(name in _PLACES or "device" in name for name in (*attributes, *names))


_PLACES = frozenset({"to", "cuda", "type_as", "new_tensor", "to_device"})


def _tell(
    interp: Interpreter, node: cst.Call, model_node: cst.BaseExpression, model: Opaque | Module, left: Argument
) -> None:
    own = Tensor(model.device, Dim.NONZERO, kind=Kind.PARAMETER, provenance=model.provenance)
    assert isinstance(left.value, (Opaque, Tensor))
    sides = (
        MismatchOperand("module", own, model_node),
        MismatchOperand(left.keyword or "input", left.value, left.node),
    )
    tell_apart(interp, node, sides, 1, model_node)


def meet_moved_siblings(interp: Interpreter, node: cst.Call, model: Opaque | Module, site: CallSite) -> None:
    """``model(input_ids=batch[0].to(device), token_type_ids=batch[2])``: wherever the model is, its inputs are apart.

    Which part of a batch is a tensor that a model computes with, its name has to tell.
    """
    if interp.in_cpu_world:
        return
    for position, argument in enumerate(site.arguments):
        device = getattr(argument.value, "device", None)
        place = interp.state.moved_groups.get(device.symbol.key) if isinstance(device, SameAs) else None
        if place is None or not _is_a_tensor(interp, model, argument, position):
            continue
        moved = next((one for one in site.arguments if getattr(one.value, "device", None) == place), None)
        if moved is not None and isinstance(moved.value, (Opaque, Tensor)) and was_moved(moved.value.provenance):
            assert isinstance(argument.value, (Opaque, Tensor))
            one = MismatchOperand(moved.keyword or "input", moved.value, moved.node)
            other = MismatchOperand(argument.keyword or "input", argument.value, argument.node)
            tell_apart(interp, node, (one, other), 1, node.func, assumed=True)


def _left_behind(interp: Interpreter, model: Opaque | Module, site: CallSite) -> Iterator[Argument]:
    """Items of a loader's batch that nobody moved, and siblings of what went to the model's place and no other."""
    for position, argument in enumerate(site.arguments):
        device = getattr(argument.value, "device", None)
        if not isinstance(argument.value, (Opaque, Tensor)) or not isinstance(device, SameAs) or is_length(argument):
            continue
        symbol = device.symbol
        loaded = symbol.anchor is Anchor.BATCH and draws_from_a_loader(symbol.source)
        place = interp.state.moved_groups.get(symbol.key, model.device if loaded else None)
        if place == model.device and (loaded or _is_a_tensor(interp, model, argument, position)):
            yield argument


def _is_a_tensor(interp: Interpreter, model: Opaque | Module, argument: Argument, position: int) -> bool:
    """Whether an argument is a tensor by its uses, by what the model's ``forward`` does with it, or by its name."""
    value = argument.value
    if argument.star or is_length(argument):
        return False
    if isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike):
        return True
    forward = model.info.method("forward") if isinstance(model, Module) and model.info is not None else None
    name = argument.keyword or code_of(argument.node).rpartition(".")[2]
    if forward is not None:
        expected = [parameter.name.value for parameter in parameters_of(forward.header)[1:]]
        name = argument.keyword or (expected[position] if position < len(expected) else name)
        held = handed_on.roles(interp.program, forward).get(name)
        if held is not None and held.role not in (Role.ANYTHING, Role.PLACED, Role.NAMED_TENSOR):
            return held.role in (Role.TENSOR, Role.LIKELY_TENSOR)
    return names_a_sibling(name)
