"""The call of a model of which only the name is known: ``self.model(x, step)`` in a class with an unknown base.

It works where its inputs are, so they have to be on one device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeGuard

import libcst as cst

from devlint.placement.calls.conventional_results import brings_nothing_over, of_callable, of_told_device
from devlint.placement.calls.encodings import left_encoded
from devlint.placement.calls.module_inputs import first_of_a_state, is_left_on_cpu, is_of_floats, tell_apart
from devlint.placement.declarations.evidence_conventions import BESIDE_BATCHES, CONVENTIONS
from devlint.placement.declarations.evidence_names import names_a_module
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Argument,
    Container,
    Module,
    Opaque,
    Tensor,
    UnknownValue,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import MismatchOperand
from devlint.placement.domain.lattice import CPU, is_accelerator, is_given, is_of_module
from devlint.placement.domain.provenance import StepKind, was_moved
from devlint.placement.operations.siblings import place_of_batches
from devlint.placement.syntax.nodes import dotted
from devlint.records import replace

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def is_named_as_model(node: cst.BaseExpression) -> bool:
    """``self.model``, ``trainer.net``: an attribute; a bare name that is unknown may be anything."""
    return isinstance(node, cst.Attribute) and names_a_module(node.attr.value.strip("_")) and dotted(node) is not None


def call_unknown_model(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """What the model gives is where its inputs are, if somebody has put them somewhere."""
    _meet_inputs(interp, node, site, _is_placed)
    given = of_callable(interp, node, site)
    if isinstance(given, Opaque) and _is_placed(given):
        return replace(given, tensorlike=True)
    values = [argument.value for argument in site.arguments]
    placed = any(isinstance(value, (Tensor, Opaque, Container)) for value in values)
    unknown = any(isinstance(value, UnknownValue) for value in values)
    return beside_batches(interp, node) if unknown and not placed else NOTHING


def beside_batches(interp: Interpreter, node: cst.Call) -> Value:
    """What a model gives for what may be made of a batch that was moved: it works where batches are moved to."""
    place = place_of_batches(interp)
    if place is None:
        return NOTHING
    step = interp.step(StepKind.COMPUTED, node, place, dotted(node.func) or "", note=CONVENTIONS[BESIDE_BATCHES])
    return Opaque(place, step, tensorlike=True)


def call_unknown(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``attention = table[name]; attention(query, key)``: where somebody put its arguments, as any callable's result.

    So for what the program keeps and calls. A name that nothing in sight binds may be any function; what is called
    like a class makes an object; and of what is on the CPU a model may bring its result over.
    """
    return beside_arguments(interp, node, site) if _is_kept(interp, node.func) else of_told_device(interp, node, site)


def beside_arguments(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """What a callable of unknown effect gives, if somebody has put its arguments somewhere, also to the CPU."""
    given = of_callable(interp, node, site)
    if isinstance(given, Opaque) and (_is_placed(given) or (given.device == CPU and was_moved(given.provenance))):
        return given
    return of_told_device(interp, node, site)


def _is_kept(interp: Interpreter, function: cst.BaseExpression) -> bool:
    """Whether a value is called that a name, an attribute or a container holds, or that another call gives."""
    if (dotted(function) or "").rpartition(".")[2][:1].isupper():
        return False
    if isinstance(function, cst.Name):
        return function.value in interp.state.values or function.value in interp.closure
    return True


def call_method_of_unknown_model(interp: Interpreter, node: cst.Call, method: str, site: CallSite) -> Value:
    """``self.net.log_prob(x)``; what a method other than ``forward`` gives may be anything."""
    interp.take_fate(node)
    if method == "forward":
        return call_unknown_model(interp, node, site)
    _meet_inputs(interp, node, site, _is_placed)
    return NOTHING


def meet_moved_inputs(interp: Interpreter, node: cst.Call, site: CallSite) -> None:
    """``model(x.to(device), step)`` of a model that came in: what is moved for it says where it works.

    Where all came in, ``encoder(x, hidden)``, a state that was made here has to be beside it; numbers may be brought.
    """
    left = _left_on_cpu(site)
    state = left is not None and is_of_floats(left.value)
    _meet_inputs(interp, node, site, _is_placed if state else _is_moved)


def meet_inputs_of_method(
    interp: Interpreter, node: cst.Call, model: Opaque | Module, method: str, site: CallSite
) -> None:
    """``model.generate(ids.to(model.device), attention_mask=mask)`` of a model that nobody moved in sight.

    A part of a Module is held against each of its inputs itself.
    """
    put = was_moved(model.provenance) or is_accelerator(model.device) or is_of_module(model.device)
    if brings_nothing_over(method) and not put:
        meet_moved_inputs(interp, node, site)


def _left_on_cpu(site: CallSite) -> Argument | None:
    found = (one for a in site.arguments if is_left_on_cpu(one := first_of_a_state(a)))
    return next(found, None) or next((a for a in site.arguments if _is_part_of_an_encoding(a)), None)


def _is_part_of_an_encoding(argument: Argument) -> bool:
    """``encoded.attention_mask``, as the tokenizer made it."""
    return not argument.star and isinstance(argument.value, Tensor) and left_encoded(argument) is not None


def _meet_inputs(
    interp: Interpreter, node: cst.Call, site: CallSite, is_placed: Callable[[Tensor | Opaque], bool]
) -> None:
    """Emit a mismatch of an input that was made on the CPU with one that was put elsewhere."""
    placed = next((a for a in site.arguments if _is_tensor(a.value) and is_placed(a.value)), None)
    left = _left_on_cpu(site)
    if placed is None or left is None:
        return
    # In the first iteration of a loop it is there for certain.
    assert isinstance(left.value, Tensor)
    stays = MismatchOperand(left.keyword or "input", replace(left.value, device=CPU), left.node)
    other = MismatchOperand(placed.keyword or "input", placed.value, placed.node)
    tell_apart(interp, node, (stays, other), 0, node.func, assumed=True)


def _is_tensor(value: Value) -> TypeGuard[Tensor | Opaque]:
    return isinstance(value, Tensor) or (isinstance(value, Opaque) and (value.moved or value.tensorlike))


def _is_placed(value: Tensor | Opaque) -> bool:
    """Whether somebody decided on the device: what a loader hands out, a model may bring over itself."""
    return is_accelerator(value.device) or is_given(value.device)


def _is_moved(value: Tensor | Opaque) -> bool:
    return is_accelerator(value.device) or (value.device != CPU and was_moved(value.provenance))
