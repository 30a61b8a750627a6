"""Reads by numpy in functions of other files of what a call hands them: the caller knows where that is.

For the function itself an argument is wherever its caller has it, and most callers have theirs on the CPU. A call that
hands over what was put on an accelerator fails inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.summaries import Substitution, arguments_of, place_of
from devlint.placement.declarations.symbol_keys import symbol_key
from devlint.placement.domain.abstract_values import Container, DeviceName, Host, Module, Opaque, Tensor, Value
from devlint.placement.domain.events import ReadInCallee
from devlint.placement.domain.lattice import UNKNOWN
from devlint.placement.state.host_reads import METHOD
from devlint.placement.state.reads_of_arguments import (
    is_in_each_call,
    is_left_out,
    key_as_it_came,
    key_of_array,
    key_of_parameter,
    switches,
)
from devlint.placement.syntax.nodes import code_of
from devlint.records import replace

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.domain.call_site import CallSite
    from devlint.placement.domain.events import HostRead
    from devlint.placement.interpreter.interpreter import Interpreter


def note_call(interp: Interpreter, node: cst.Call, info: FunctionInfo, handed: Substitution, site: CallSite) -> None:
    """Record what the callee reads of what the definition hands on, and tell of what another file's callee reads."""
    if not any(isinstance(value, _READ) for value in handed.values()):
        return  # whatever it reads; to know that, all of it would be evaluated
    program = interp.program.holder(info)
    for key, read in program.host_reads_of(info).items() if program is not None else ():
        value = handed.get(key)
        if value is None or _is_switched_off(info, read, handed):
            continue
        device = place_of(value, interp)
        argument = next((argument for argument in site.arguments if argument.value is value), None)
        own = key_of_parameter(interp, device)
        if read.argument:
            own = key_as_it_came(interp, value) if isinstance(value, (Tensor, Opaque)) else None
        if own is None and argument is not None and isinstance(value, Host):
            own = key_of_array(interp, argument.node)
        if own is not None and not read.arms and is_in_each_call(interp, allowed=switches(interp, interp.arms)):
            calls = ((node, interp.scope), *read.calls)
            interp.host_reads.setdefault(
                own, replace(read, arms=interp.arms if interp.decided else read.arms, calls=calls)
            )
        tensor = _tensor_of(value, read)
        # In its own file the read of what is a tensor for certain is judged where it stands.
        judged_here = read.scope.path != interp.scope.path or read.reader != METHOD or read.value.device == UNKNOWN
        if tensor is not None and argument is not None and judged_here and not interp.in_cpu_world:
            interp.emit(
                ReadInCallee(node, interp.scope, tensor, device, read, argument.node, code_of(node.func), interp.arms)
            )


_READ = (Tensor, Opaque, Module, DeviceName, Container, Host)
"""What has a place of its own or of the caller's argument, or may be an array."""


def note_module_call(
    interp: Interpreter, node: cst.Call, forward: FunctionInfo, module: Module, site: CallSite
) -> None:
    """The same of a call of a module, for what its ``forward`` hands to torch where that wants a CPU tensor.

    By numpy a ``forward`` reads where its inputs are, and it is judged there.
    """
    program = interp.program.holder(forward)
    reads = program.host_reads_of(forward) if program is not None and interp.depth == 0 else {}
    if any(read.argument for read in reads.values()):
        given = arguments_of(forward, site, module, interp.program)
        note_call(interp, node, forward, {symbol_key(forward, name): value for name, value in given}, site)


def _is_switched_off(info: FunctionInfo, read: HostRead, handed: Substitution) -> bool:
    """Whether a call leaves, or sets, a switch to what keeps the read from running."""
    return any(is_left_out(arm, lambda name: handed.get(symbol_key(info, name))) for arm in read.arms)


def _tensor_of(value: Value, read: HostRead) -> Tensor | Opaque | None:
    """What is handed over as a tensor: itself, or one of several.

    Of a dict the callee takes its lengths by their key, beside the tensors (fixture `lengths_in_a_dict`).
    """
    if isinstance(value, (Tensor, Opaque)):
        return value
    if isinstance(value, Container) and value.keys is not None and read.argument:
        return None
    if isinstance(value, Container):
        return next((item for item in value.innermost if isinstance(item, (Tensor, Opaque))), None)
    return None
