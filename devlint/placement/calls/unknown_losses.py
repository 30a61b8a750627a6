"""The call of a loss of which only the name is known: it compares what it is given.

``criterion(scores, labels)``, ``self.loss(self.model, x, y)``, ``model.compute_loss(x, y)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls.module_inputs import is_length, tell_apart
from devlint.placement.calls.parted_batches import left_and_moved
from devlint.placement.declarations.evidence_names import names_a_target
from devlint.placement.domain.abstract_values import NOTHING, Argument, Opaque, Tensor, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import MismatchOperand
from devlint.placement.domain.lattice import CPU, SameAs
from devlint.placement.domain.provenance import StepKind
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.operands import Bound, device_of_value, left_behind, provenance_of
from devlint.placement.syntax.nodes import code_of, dotted
from devlint.semantics import Dim, Operation

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def is_named_as_loss(function: cst.BaseExpression) -> bool:
    name = (dotted(function) or "").rsplit(".", 1)[-1].lower()
    return name.startswith(("criterion", "loss")) or name.endswith(("criterion", "loss", "loss_fn", "loss_func"))


def is_method_that_compares(method: str) -> bool:
    """``model.loss(x, y)``, ``self.compute_loss(x, y)``, and not ``meter.add_loss(loss, y)``."""
    verb, _, rest = method.lstrip("_").lower().partition("_")
    return rest.endswith("loss") if verb in _COMPARING else verb == "loss" and rest in ("", "fn", "func", "function")


_COMPARING = frozenset("compute calculate calc cal get forward training train".split())


def call_unknown_loss(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """The call of a loss that was passed in. Any loss compares its two arguments."""
    given = site.positional[:2]
    values = [argument.value for argument in given]
    if len(given) < 2 or not all(isinstance(value, (Tensor, Opaque)) for value in values):
        return meet_targets(interp, node, site)
    operation = semantics.function("torch.nn.functional.mse_loss")
    # The whole batch may be passed beside what was computed from a part of it.
    stayed = [a.value for a in given if left_behind(interp, a.value) and not _is_whole(a)]
    if any(map(is_length, site.arguments)):
        # Beside lengths, as in `ctc(scores, targets, ...)`, the targets may stay on the CPU.
        stayed = []
    elif not stayed:
        meet_targets(interp, node, site)
    if len(site.arguments) == 2:
        stayed += [value for value in values if _was_made_here(interp, value)]
    if not isinstance(operation, Operation) or len(stayed) != 1:
        if values[0] in stayed:
            return NOTHING
        device = device_of_value(values[0])
        step = interp.step(StepKind.COMPUTED, node, device, code_of(node.func), provenance_of(values[0]))
        return Opaque(device, step, tensorlike=True)
    bound = [Bound(role, a.value, a.node, strict=True) for role, a in zip(("input", "target"), given, strict=True)]
    return perform(interp, node, operation, bound, callee="loss", callee_node=node.func, call=site)


def meet_targets(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """Emit that a target stayed with its batch, beside what was moved; the result, which is where that is."""
    if interp.in_cpu_world or any(is_length(argument) for argument in site.arguments):
        return NOTHING
    for left, moved, node_of_moved in left_and_moved(interp, site):
        if not isinstance(left.value, (Tensor, Opaque)) or _is_whole(left) or not _is_a_target(left):
            continue
        there = MismatchOperand("input", moved, node_of_moved)
        stays = MismatchOperand(left.keyword or "target", left.value, left.node)
        tell_apart(interp, node, (there, stays), 1, node.func, assumed=True)
        return Opaque(moved.device, moved.provenance)
    return NOTHING


def _is_a_target(argument: Argument) -> bool:
    name = argument.keyword or code_of(argument.node).rpartition(".")[2]
    return isinstance(argument.value, Tensor) or names_a_target(name) or names_a_target(code_of(argument.node))


def _was_made_here(interp: Interpreter, value: Value) -> bool:
    """Whether it is a tensor with dimensions that the definition made on the CPU."""
    if not isinstance(value, Tensor) or value.device != CPU or value.dim is not Dim.NONZERO or value.provenance is None:
        return False
    made = value.provenance.find(StepKind.MADE)
    return made is not None and made.scope == interp.scope


def _is_whole(argument: Argument) -> bool:
    device = device_of_value(argument.value)
    return isinstance(device, SameAs) and device.symbol.name == code_of(argument.node)
