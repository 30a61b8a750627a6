"""Reads by numpy in functions of other files of what a call hands them: the caller knows where that is.

For the function itself an argument is wherever its caller has it, and most callers have theirs on the CPU. A call that
hands over what was put on an accelerator fails inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.summaries import Substitution, place_of, symbol_key
from devlint.placement.domain.abstract_values import Constant, Container, Opaque, Tensor, Value
from devlint.placement.domain.events import ReadInCallee
from devlint.placement.state.reads_of_arguments import asked, is_in_each_call, key_of_parameter
from devlint.placement.syntax.nodes import code_of

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.domain.call_site import CallSite
    from devlint.placement.domain.events import HostRead
    from devlint.placement.interpreter.interpreter import Interpreter


def note_call(interp: Interpreter, node: cst.Call, info: FunctionInfo, handed: Substitution, site: CallSite) -> None:
    """Record what the callee reads of what the definition hands on, and tell of what another file's callee reads."""
    program = interp.program.holder(info)
    for key, read in program.host_reads_of(info).items() if program is not None else ():
        value = handed.get(key)
        if value is None or _is_switched_off(info, read, handed):
            continue
        device = place_of(value, interp)
        own = key_of_parameter(interp, device)
        if own is not None and not read.arms and is_in_each_call(interp):
            interp.host_reads.setdefault(own, read)
        tensor = _tensor_of(value)
        argument = next((argument for argument in site.arguments if argument.value is value), None)
        elsewhere = read.scope.path != interp.scope.path and not interp.in_cpu_world
        if tensor is not None and argument is not None and elsewhere:
            interp.emit(
                ReadInCallee(node, interp.scope, tensor, device, read, argument.node, code_of(node.func), interp.arms)
            )


def _is_switched_off(info: FunctionInfo, read: HostRead, handed: Substitution) -> bool:
    """Whether a call leaves, or sets, a switch to what keeps the read from running."""
    given = (handed.get(symbol_key(info, name)) for arm in read.arms for name in asked(arm))
    return any(isinstance(value, Constant) and not value.value for value in given)


def _tensor_of(value: Value) -> Tensor | Opaque | None:
    """What is handed over as a tensor: itself, or one of several."""
    if isinstance(value, (Tensor, Opaque)):
        return value
    if isinstance(value, Container):
        return next((item for item in value.innermost if isinstance(item, (Tensor, Opaque))), None)
    return None
