"""Methods of a module that stayed on the CPU, called with what was put elsewhere: ``self.net.act(x.to(device))``.

A call of the module itself meets its parameters. What another method does with an argument, its body tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.inlining import meets_own_state
from devlint.placement.calls.module_inputs import is_left_for_callers, meet_module
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.domain.abstract_values import Module, Opaque, Tensor
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import CPU, is_set_as_device
from devlint.placement.domain.provenance import was_moved
from devlint.placement.operations.operands import Bound

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def meet_method(
    interp: Interpreter,
    node: cst.Call,
    method: FunctionInfo,
    module: Module,
    module_node: cst.BaseExpression,
    site: CallSite,
) -> None:
    """Emit that a module was left on the CPU, where its method computes with its parameters and an argument."""
    if module.device != CPU or module.holds_state is not True or module.assumed or interp.muted:
        return
    for argument in site.arguments:
        value = argument.value
        if argument.star or not isinstance(value, (Tensor, Opaque)) or value.device == CPU:
            continue
        put = was_moved(value.provenance) or is_set_as_device(value.device)
        put = put or is_left_for_callers(interp, module, module_node, value)
        if put and meets_own_state(interp, method, site, module, argument):
            bound = Bound(argument.keyword or "input", value, argument.node, strict=True)
            meet_module(interp, node, module, module_node, [bound])
            return
