"""Modules that are handed to other code as they stand: ``Trainer(model)`` may bring what it got to its own device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_values import Function, Module
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import CPU, UNKNOWN
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import code_of, dotted, inner_nodes, parameters_of, path_of
from devlint.records import replace

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.interpreter.interpreter import Interpreter

HARMLESS = frozenset(
    "print len type isinstance repr str id count_parameters copy.copy copy.deepcopy deepcopy torch.save".split()
)

Leaves = Callable[[cst.Call, Sequence[int]], bool]
"""Whether a call leaves its arguments of these numbers where they are."""


def hands_on(definition: cst.CSTNode, path: str, known: cst.Call | None = None, leaves: Leaves | None = None) -> bool:
    """Whether a definition passes the module of this path to code other than ``known``, or lets that change it."""
    for child in inner_nodes(definition):
        if type(child) is not cst.Call or child is known or (dotted(child.func) or "") in HARMLESS:
            continue
        given = [n for n, a in enumerate(child.args) if _is_a_path(a.value) and code_of(a.value) == path]
        if given and not (leaves is not None and leaves(child, given)):
            return True
        moves = isinstance(child.func, cst.Attribute) and child.func.attr.value in ("_apply", "apply", "to_empty")
        if moves and isinstance(child.func, cst.Attribute) and code_of(child.func.value) == path:
            return True
    return False


def _is_a_path(node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.Name, cst.Attribute))


def _leaves(interp: Interpreter, owner: ClassInfo, call: cst.Call, given: Sequence[int]) -> bool:
    """Whether a function or method of the project is called that neither moves these arguments nor hands them on.

    ``soft_update(self.target, self.net)`` copies values.
    """
    match call.func:
        case cst.Name(value=name):
            found = interp.program.global_value(name)
            callee = found.info if isinstance(found, Function) else None
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            callee = owner.method(name)
        case _:
            return False
    if callee is None or callee.places_itself:
        return False
    parameters = [one.name.value for one in parameters_of(callee.node)[callee.has_receiver :]]
    for number in given:
        keyword = call.args[number].keyword
        by_position = parameters[number] if number < len(parameters) and not call.args[number].star else ""
        taken = keyword.value if keyword is not None else by_position
        if taken not in parameters or hands_on(callee.node.body, taken):
            return False
    return True


def is_handed_on_by_its_owner(interp: Interpreter, node: cst.BaseExpression) -> bool:
    """Whether some method of the class hands on the module that ``self`` keeps under this name."""
    path = path_of(node)
    owner = interp.info.owner if interp.info is not None else None
    if owner is None or path is None or not path.startswith("self."):
        return False
    name = path.split(".")[1]
    methods = (method for one in owner.order for method in one.methods.values())
    leaves = partial(_leaves, interp, owner)
    return any(hands_on(method.node.body, path, leaves=leaves) for method in methods if name in method.own.mentioned)


def note_handed_on(interp: Interpreter, name: str, site: CallSite) -> None:
    """A statement of a script hands a module on. (For a function, what builds and calls it there decides.)"""
    if interp.scope.setting is not Setting.MODULE_LEVEL or name in HARMLESS or name.startswith("torch."):
        return
    for argument in site.arguments:
        value, path = argument.value, path_of(argument.node)
        if isinstance(value, Module) and value.device == CPU and path is not None:
            interp.state.store(path, replace(value, device=UNKNOWN))
