"""What calls say to the optional device parameter of a function of the project: a device, or nothing at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.left_to_accelerators import note_left_to_accelerator
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.ignored_parameters import names_device
from devlint.placement.declarations.left_out_devices import SWITCHES
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import DeviceTold
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import code_of, descend, inner_nodes, is_name, positions_of

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

_ON_THE_CPU = frozenset({"None", "False", "'cpu'", '"cpu"', "torch.device('cpu')", 'torch.device("cpu")'})
"""Defaults that leave what a function makes where the CPU is."""


def note_told_device(interp: Interpreter, node: cst.Call, info: FunctionInfo, site: CallSite, bound: bool) -> bool:
    """Emit what a call says to a device parameter that defaults to the CPU; whether it says nothing.

    ``bound``: the first parameter is the receiver. A function that chooses for itself where it is told nothing, as by a
    tensor that it is handed, needs none.
    """
    if site.unpacks:
        return False
    for position, parameter in positions_of(info.header, bound=bound):
        name = parameter.name.value
        # Each call comes here: names are looked at first, a default is written out for few.
        if parameter.default is None or not (name in SWITCHES or names_device(parameter)):
            continue
        default = code_of(parameter.default)
        if default not in _ON_THE_CPU:
            if site.argument(name, position) is None:
                note_left_to_accelerator(interp, node, info, parameter, site)
            continue
        if default == "None" and interp.state.factory_device != CPU:
            return False  # the context around the call says it
        given = site.argument(name, position)
        if given is None and _chooses_itself(info, name):
            note_left_to_accelerator(interp, node, info, parameter, site)
            return False
        if interp.depth == 0:
            said = None if given is None else given.node
            interp.emit(DeviceTold(node, interp.scope, info.key, info.name, name, said))
        return given is None
    return False


def note_built_untold(interp: Interpreter, node: cst.Call, init: FunctionInfo, site: CallSite) -> None:
    """Emit that a construction leaves the object's device to a default that names an accelerator."""
    owner = init.owner
    if site.unpacks or owner is None or (owner.is_module and interp.scope.setting is Setting.CONSTRUCTION):
        return  # a part of a module moves with it
    for position, parameter in positions_of(init.header, bound=True):
        name = parameter.name.value
        if parameter.default is not None and names_device(parameter) and site.argument(name, position) is None:
            note_left_to_accelerator(interp, node, init, parameter, site)


def _chooses_itself(info: FunctionInfo, name: str) -> bool:
    """Whether a body gives the parameter another value, or asks for its absence, to put something in its place."""
    if name not in info.names:
        return False
    is_switch = name in SWITCHES  # both of its arms are what it is for
    for child in inner_nodes(info.node.body):
        match child:
            case cst.Assign(targets=targets) if any(is_name(target.target, name) for target in targets):
                return True
            case cst.BooleanOperation(left=left, operator=cst.Or()) if is_name(left, name):
                return True
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="as_tensor" | "asarray")), args=args) if any(
                is_name(argument.value, name) for argument in args
            ):
                return True  # told None, it leaves a tensor where it is
            case cst.IfExp(test=test) if not is_switch and any(is_name(part, name) for part in descend(test)):
                return True
            case cst.If(test=test, orelse=orelse) if not is_switch and any(
                is_name(part, name) for part in descend(test)
            ):
                if orelse is not None or not _is_truth_or_presence(test, name):
                    return True
    return False


def _is_truth_or_presence(test: cst.BaseExpression, name: str) -> bool:
    """``if use_cuda:``, ``if device is not None:``."""
    match test:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.IsNot())]):
            return is_name(left, name)
        case _:
            return is_name(test, name)
