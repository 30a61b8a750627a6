"""Calls of functions that call another one: ``partial(f, a)(b)``, ``vmap(f)(x)``, ``functional_call(net, w, (x,))``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls.modules import call_module
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Argument,
    Container,
    Evidence,
    Module,
    Opaque,
    Partial,
    Tensor,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.provenance import StepKind
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.operands import Bound, bind
from devlint.placement.syntax.nodes import code_of
from devlint.records import replace
from devlint.semantics import Dim, Operation

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def partial(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``functools.partial(f, a, k=b)``."""
    if not site.positional or site.unpacks:
        return NOTHING
    first, *given = site.arguments
    return Partial(first.value, tuple(given))


def call_partial(interp: Interpreter, node: cst.Call, callee: Partial, site: CallSite) -> Value:
    """The call of the partial: its positional arguments come first; keywords of this call override its own."""

    later = {argument.keyword for argument in site.arguments if argument.keyword is not None}
    kept = tuple(a for a in callee.arguments if a.keyword is None)
    named = tuple(a for a in callee.arguments if a.keyword is not None and a.keyword not in later)
    return interp.call_value(node, callee.callee, CallSite(node, (*kept, *site.arguments, *named)))


def checkpoint(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``checkpoint(function, *args)``, evaluated as ``function(*args)``."""
    return call_first(interp, node, site, _CHECKPOINT_OPTIONS)


def call_first(interp: Interpreter, node: cst.Call, site: CallSite, options: frozenset[str]) -> Value:
    """Call the first argument with the others; ``options`` are keywords that are not passed on."""
    if not site.positional or len(site.arguments) < 2:
        return NOTHING
    rest = CallSite(node, tuple(a for a in site.arguments[1:] if a.keyword not in options))
    function = site.positional[0]
    if isinstance(function.value, Module):
        return call_module(interp, node, function.value, function.node, rest)
    return interp.call_value(node, function.value, rest)


_CHECKPOINT_OPTIONS = frozenset({"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug"})


def functional_call(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``functional_call(module, parameters, args)``: the module's call, with parameters on an unknown device."""
    module = site.argument("module", 0)
    given = site.argument("args", 2)
    if module is None or given is None or not isinstance(module.value, Module):
        return NOTHING
    return call_with_inputs(interp, node, module, given)


def call_with_inputs(interp: Interpreter, node: cst.Call, function: Argument, given: Argument) -> Value:
    """``function(*given)``, where one input may stand without its tuple."""
    inputs: tuple[Argument, ...] = (replace(given, keyword=None),)
    if isinstance(given.value, Container):
        nodes = _elements(given.node, len(given.value.items))
        inputs = tuple(Argument(value, n) for value, n in zip(given.value.items, nodes, strict=True))
    site = CallSite(node, inputs)
    if isinstance(function.value, Module):
        return call_module(interp, node, function.value, function.node, site)
    return interp.call_value(node, function.value, site)


def trace(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``torch.jit.trace(function, example_inputs)`` calls the function and returns it."""

    function, given = site.argument("func", 0), site.argument("example_inputs", 1)
    if function is None:
        return NOTHING
    if given is not None:
        call_with_inputs(interp, node, function, given)
    return function.value


def _elements(node: cst.BaseExpression, count: int) -> list[cst.BaseExpression]:
    """The nodes of the elements, if the container is a display."""
    if isinstance(node, (cst.Tuple, cst.List)) and len(node.elements) == count:
        return [element.value for element in node.elements]
    return [node] * count


def gradients(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``torch.autograd.grad(outputs, inputs, grad_outputs)``: each gradient must be on its output's device."""
    _begin(interp, node, site.argument("outputs", 0), site.argument("grad_outputs", 2))
    operation = semantics.function("torch.autograd.grad")
    if not isinstance(operation, Operation):
        return NOTHING
    return perform(interp, node, operation, bind(operation, site), call=site)


def backward(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``torch.autograd.backward(tensors, grad_tensors)``."""
    _begin(interp, node, site.argument("tensors", 0), site.argument("grad_tensors", 1))
    return NOTHING


def derivatives(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``torch.autograd.functional.jacobian(function, inputs)``: the derivatives by a tensor are where it is."""
    given = site.argument("inputs", 1)
    if given is None or not isinstance(given.value, (Tensor, Opaque)):
        return NOTHING
    device = given.value.device
    provenance = interp.step(StepKind.COMPUTED, node, device, code_of(node.func), given.value.provenance)
    dim = given.value.dim if isinstance(given.value, Tensor) else Dim.UNKNOWN
    return Tensor(device, dim, evidence=Evidence.LIKELY, provenance=provenance)


def _begin(interp: Interpreter, node: cst.Call, outputs: Argument | None, gradients: Argument | None) -> None:
    operation = semantics.method("backward")
    if outputs is None or gradients is None or not isinstance(operation, Operation):
        return
    for output, gradient in zip(_parts(outputs), _parts(gradients), strict=False):
        perform(interp, node, operation, [replace(output, role="self"), replace(gradient, role="gradient")])


def _parts(argument: Argument) -> list[Bound]:
    """The values that stand in the argument, or the one that stands for any number of them."""
    if isinstance(argument.value, Container):
        if not argument.value.items and argument.value.rest is not None:
            node = argument.node.elt if isinstance(argument.node, cst.BaseSimpleComp) else argument.node
            return [Bound("", argument.value.rest, node, strict=True)]
        nodes = _elements(argument.node, len(argument.value.items))
        return [Bound("", value, n, strict=True) for value, n in zip(argument.value.items, nodes, strict=True)]
    return [Bound("", argument.value, argument.node, strict=True)]
