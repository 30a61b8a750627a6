"""A module that was brought to where its owner is told, and what it is called with: whether that asks as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.calls.module_inputs import brings_its_inputs
from devlint.placement.domain.abstract_values import Opaque, Tensor
from devlint.placement.domain.events import MismatchOperand, ToldModuleCalled
from devlint.placement.domain.lattice import is_accelerator, is_of_parameter
from devlint.placement.domain.provenance import was_moved
from devlint.placement.operations.operands import device_of_value

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Module
    from devlint.placement.domain.call_site import CallSite
    from devlint.placement.interpreter.interpreter import Interpreter


def note_told_module(
    interp: Interpreter, node: cst.Call, module: Module, module_node: cst.BaseExpression, site: CallSite
) -> None:
    """``self.model(x.cuda())``, where the model was brought to ``device``, or to what the machine has."""
    device = module.device
    if not (is_of_parameter(device) or is_accelerator(device)) or not was_moved(module.provenance) or module.stateless:
        return
    given = [one for one in site.arguments if isinstance(one.value, (Tensor, Opaque)) and not one.star]
    there = all(is_accelerator(device_of_value(one.value)) for one in given)
    if given and there and not brings_its_inputs(interp, module, site):
        inputs = tuple(MismatchOperand(one.keyword or "input", one.value, one.node) for one in given)
        own = MismatchOperand("module", module, module_node)
        interp.emit(ToldModuleCalled(node, interp.scope, own, inputs, interp.arms))
