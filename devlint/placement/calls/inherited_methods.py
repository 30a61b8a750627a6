"""Methods that a class inherits and that nothing in sight calls, such as ``forward``: walked with the derived class."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.placement.calls.inherited_reads import inherited_readers, read_of_derived
from devlint.placement.calls.inlining import is_about
from devlint.placement.calls.parameters import bind_parameters, scope_of
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.domain.abstract_values import Self
from devlint.placement.domain.events import DeviceMismatch
from devlint.placement.interpreter.interpreter import Handlers, Interpreter
from devlint.placement.interpreter.program import Program
from devlint.placement.syntax.nodes import parameters_of
from devlint.records import replace


def mismatches_of_inherited(
    program: Program, info: ClassInfo, handlers: Handlers
) -> Iterator[tuple[FunctionInfo, DeviceMismatch]]:
    """The mismatches, in the methods that a class inherits, of CPU tensors that it stores itself."""
    for method in inherited_readers(program, info):
        holder = program.holder(method)
        if holder is None or not isinstance(method.node, cst.FunctionDef) or holder.is_running(method):
            continue
        own = Self(info, f"{program.path}:{info.qualname}")
        handed = list(read_of_derived(program, method, own))
        for event in _walked(holder, method, own, handlers).events:
            if isinstance(event, DeviceMismatch) and is_about(event, handed, {}):
                said = program.facts(info).said_at
                yield method, event if said is None else replace(event, calls=(said, *event.calls))


def _walked(holder: Program, method: FunctionInfo, own: Self, handlers: Handlers) -> Interpreter:
    interp = Interpreter(holder, handlers, scope_of(method, holder.path, holder.role), method)
    bind_parameters(interp, method)
    first = parameters_of(method.node)[:1]
    if first and not method.is_static and not method.is_classmethod:
        interp.state.values[first[0].name.value] = own
    with holder.running(method):
        interp.run_definition(method.node)
    return interp
