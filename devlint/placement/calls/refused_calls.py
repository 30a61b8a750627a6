"""What Python or PyTorch refuses whatever the device: an unknown keyword, a name without a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.callers import is_declared_openly
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import CallRefused
from devlint.placement.syntax.nodes import parameters_of
from devlint.semantics import Operation

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def note_refused_call(interp: Interpreter, node: cst.Call, info: FunctionInfo, site: CallSite) -> None:
    """Emit that a function of the project is called with a keyword that none of its parameters has."""
    keywords = {argument.keyword for argument in site.arguments if argument.keyword is not None}
    if not keywords or _may_not_happen(interp) or info.header.params.star_kwarg is not None:
        return
    if not info.is_definition or not info.keeps_signature:
        return
    if not keywords <= {parameter.name.value for parameter in parameters_of(info.header)}:
        interp.emit(CallRefused(node, interp.scope))


def note_refused_by_torch(interp: Interpreter, node: cst.Call, operation: Operation, site: CallSite) -> None:
    """The same of a function of torch itself, ``torch.cat(parts, dims=1)``.

    The tables have all parameters of those that take tensors; of ``torch.save`` and the like they have not.
    """
    if all(parameter.kind == "other" for parameter in operation.parameters):
        return
    if operation.name.count(".") != 1 or not operation.name.startswith("torch.") or _may_not_happen(interp):
        return
    known = {name for parameter in operation.parameters for name in (parameter.name, *parameter.also)} | _ANYWHERE
    if any(argument.keyword not in known for argument in site.arguments if argument.keyword is not None):
        interp.emit(CallRefused(node, interp.scope))


def note_unbound_name(interp: Interpreter, node: cst.Name) -> None:
    """Emit that a definition reads a name that nothing binds: not the definition, its file, Python or a star import."""
    if interp.info is None or not interp.info.is_definition or _may_not_happen(interp):
        return
    if interp.class_body or interp.seconds or interp.looks_ahead or interp.exits.count() != (0, 0):
        return
    name = node.value
    if name in interp.state.values or name in interp.closure or _binds(interp.info, name):
        return
    if interp.program.is_unbound(name) and is_declared_openly(interp.program.index, interp.info.qualname):
        interp.emit(CallRefused(node, interp.scope))


def _binds(info: FunctionInfo, name: str) -> bool:
    """Whether a node of the definition, or of one inside of it, binds the name or may do so."""
    bound = info.bound_names
    return bound is None or name in bound


_ANYWHERE = frozenset(
    """
    self input out dtype layout device requires_grad pin_memory generator memory_format names
    axis axes keepdims x a x1 x2
    """.split()
)
"""Of factories, and numpy's names for parameters (torch/csrc/utils/python_arg_parser.cpp)."""


def _may_not_happen(interp: Interpreter) -> bool:
    """Whether a condition decides that it is reached, or a handler expects that it fails."""
    return interp.muted or interp.depth > 0 or interp.tries > 0 or bool(interp.decided) or interp.is_dead
