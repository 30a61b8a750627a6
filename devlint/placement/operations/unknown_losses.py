"""The call of a loss of which only the name is known: it compares what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.domain.abstract_values import NOTHING, Argument, Opaque, Tensor, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import CPU, SameAs
from devlint.placement.domain.provenance import StepKind
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.operands import Bound, device_of_value, left_behind, provenance_of
from devlint.placement.syntax.nodes import code_of
from devlint.semantics import Dim, Operation

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def call_unknown_loss(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """The call of a loss that was passed in. Any loss compares its two arguments."""
    given = site.positional[:2]
    values = [argument.value for argument in given]
    if len(given) < 2 or not all(isinstance(value, (Tensor, Opaque)) for value in values):
        return NOTHING
    operation = semantics.function("torch.nn.functional.mse_loss")
    # The whole batch may be passed beside what was computed from a part of it.
    stayed = [a.value for a in given if left_behind(interp, a.value) and not _is_whole(a)]
    if len(site.arguments) == 2:
        # Beside lengths, as in `ctc(scores, targets, ...)`, the targets may stay on the CPU.
        stayed += [value for value in values if _was_made_here(interp, value)]
    if not isinstance(operation, Operation) or len(stayed) != 1:
        return Opaque(device_of_value(values[0]), provenance_of(values[0])) if values[0] not in stayed else NOTHING
    bound = [Bound(role, a.value, a.node, strict=True) for role, a in zip(("input", "target"), given, strict=True)]
    return perform(interp, node, operation, bound, callee="loss", callee_node=node.func, call=site)


def _was_made_here(interp: Interpreter, value: Value) -> bool:
    """Whether it is a tensor with dimensions that the definition made on the CPU."""
    if not isinstance(value, Tensor) or value.device != CPU or value.dim is not Dim.NONZERO or value.provenance is None:
        return False
    made = value.provenance.find(StepKind.MADE)
    return made is not None and made.scope == interp.scope


def _is_whole(argument: Argument) -> bool:
    device = device_of_value(argument.value)
    return isinstance(device, SameAs) and device.symbol.name == code_of(argument.node)
