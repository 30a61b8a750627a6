"""What Python or PyTorch refuses whatever the device: an unknown keyword, a name without a value."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.callers import is_declared_openly
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import CallRefused
from devlint.placement.state.refusals import may_not_happen, note_refused
from devlint.placement.syntax.nodes import parameters_of
from devlint.semantics import Operation

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter
    from devlint.placement.interpreter.program import Program


class Receiver(Enum):
    """What takes the place of a definition's first parameter."""

    NONE = auto()
    BOUND = auto()
    OPEN = auto()
    """Nobody knows, or which definition a name stands for: a derived class may have another one."""


def note_refused_call(
    interp: Interpreter, node: cst.Call, info: FunctionInfo, site: CallSite, receiver: Receiver
) -> None:
    """Emit that a call of a function of the project raises: it does not fit its parameters, or what it calls does."""
    if receiver is Receiver.OPEN or may_not_happen(interp) or not info.is_definition or not info.keeps_signature:
        return
    if _is_refused(info, site, receiver) or fails(interp.program, info):
        note_refused(interp, node)


def fails(program: Program, info: FunctionInfo) -> bool:
    """Whether each call of a definition raises, by its own evaluation.

    What gives nothing is evaluated for no call, and is not for this.
    """
    if info.only_raises and info.owner is None:
        return True
    built = info.owner is not None and info.name == "__init__"
    holder = program.holder(info) if built or not info.gives_none else None
    if holder is None or holder.is_running(info):
        return False
    if built and info.owner is not None:
        holder.facts(info.owner)  # which evaluate it
    refused = (event for event in holder.events_of(info) if isinstance(event, CallRefused))
    return any(event.scope.qualname == info.qualname for event in refused)


def _is_refused(info: FunctionInfo, site: CallSite, receiver: Receiver) -> bool:
    """Whether Python refuses the arguments: an unknown keyword, too many by position, or one that is missing."""
    params = info.header.params
    named = parameters_of(info.header)
    # What `**options` may hold, of several arms, is handed over in none of them together.
    written = {argument.keyword.value for argument in site.node.args if argument.keyword is not None}
    if params.star_kwarg is None and not written <= {parameter.name.value for parameter in named}:
        return True
    if site.unpacks or any(argument.star for argument in site.node.args):
        return False
    keywords = {argument.keyword for argument in site.arguments if argument.keyword is not None}
    by_position = [*params.posonly_params, *params.params][receiver is Receiver.BOUND :]
    given = len(site.positional)
    if given > len(by_position) and not isinstance(params.star_arg, cst.Param):
        return True
    rest = (*by_position[given:], *params.kwonly_params)
    return any(parameter.default is None and parameter.name.value not in keywords for parameter in rest)


def note_refused_by_torch(interp: Interpreter, node: cst.Call, operation: Operation, site: CallSite) -> None:
    """The same of a function of torch itself, ``torch.cat(parts, dims=1)``.

    The tables have all parameters of those that take tensors; of ``torch.save`` and the like they have not.
    """
    if all(parameter.kind == "other" for parameter in operation.parameters):
        return
    if operation.name.count(".") != 1 or not operation.name.startswith("torch.") or may_not_happen(interp):
        return
    known = {name for parameter in operation.parameters for name in (parameter.name, *parameter.also)} | _ANYWHERE
    if any(argument.keyword not in known for argument in site.arguments if argument.keyword is not None):
        note_refused(interp, node)


def note_unbound_name(interp: Interpreter, node: cst.Name) -> None:
    """Emit that a definition reads a name that nothing binds: not the definition, its file, Python or a star import."""
    if interp.info is None or not interp.info.is_definition or may_not_happen(interp):
        return
    name = node.value
    if name in interp.state.values or name in interp.closure or _binds(interp.info, name):
        return
    if interp.program.is_unbound(name) and is_declared_openly(interp.program.index, interp.info.qualname):
        note_refused(interp, node)


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
