"""Calls that leave a device to a default that names an accelerator, ``device="cuda"``, where the caller has its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.own_attributes import of_self
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.evidence_conventions import names_options
from devlint.placement.declarations.ignored_parameters import mentions
from devlint.placement.domain.abstract_values import (
    Constant,
    Container,
    DeviceName,
    Module,
    Opaque,
    Self,
    Tensor,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.device_names import name_of_constant
from devlint.placement.domain.events import LeftToAccelerator
from devlint.placement.domain.lattice import Known, SameAs, is_accelerator, leaves
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.placement.syntax.nodes import body_of, code_of, dotted, inner_nodes, is_name, parameters_of, string_value
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def note_left_to_accelerator(
    interp: Interpreter, node: cst.Call, info: FunctionInfo, parameter: cst.Param, site: CallSite
) -> None:
    """Emit that a call leaves out a device which is an accelerator by default, and something at hand says another."""
    if any(isinstance(one.value, DeviceName) or "device" in (one.keyword or "") for one in site.arguments):
        return  # it says one to another parameter, or by a name that the callee does not know
    if interp.depth > 0 or interp.muted or interp.in_cpu_world or parameter.name.value != "device":
        return
    default = _accelerator_in(parameter.default)
    chosen = "" if default else _choice_in(parameter.default) or _choice_of_body(info, parameter)
    if not (default or chosen) or is_named_for_accelerator(info.qualname):
        return
    if not mentions(info.node.body, parameter.name.value):
        return
    own = _device_at_hand(interp, asked_for=bool(chosen))
    at_hand = own or (_tensor_at_hand(interp, site) if default else "")
    default = default or f"`{chosen}`"
    if at_hand:
        name = info.owner.name if info.name == "__init__" and info.owner is not None else info.name
        around, raises = _code_around(interp), bool(own) and not chosen and info.name != "__init__"
        interp.emit(LeftToAccelerator(node, interp.scope, name, parameter.name.value, default, at_hand, around, raises))


def _accelerator_in(default: cst.BaseExpression | None) -> str:
    """The accelerator that a default names: ``"cuda"``, ``torch.device("cuda:0")``."""
    if isinstance(default, cst.Call) and (dotted(default.func) or "").endswith("device") and len(default.args) == 1:
        default = default.args[0].value
    if not isinstance(default, cst.SimpleString):
        return ""
    named = name_of_constant(Constant(string_value(default.value)))
    return code_of(default) if named is not None and is_accelerator(named.device) else ""


def _choice_in(default: cst.CSTNode | None) -> str:
    """The choice by what the machine has that a default is: ``"cuda" if torch.cuda.is_available() else "cpu"``."""
    if isinstance(default, cst.Call) and (dotted(default.func) or "").endswith("device") and len(default.args) == 1:
        default = default.args[0].value
    if not isinstance(default, cst.IfExp) or "is_available" not in code_of(default.test):
        return ""
    return code_of(default) if _accelerator_in(default.body) or _accelerator_in(default.orelse) else ""


def _choice_of_body(info: FunctionInfo, parameter: cst.Param) -> str:
    """The choice that a body makes where it is told None: ``if device is None: device = "cuda" if ... else "cpu"``."""
    name = parameter.name.value
    if parameter.default is None or code_of(parameter.default) != "None" or name not in info.names:
        return ""
    for node in inner_nodes(info.node.body, into_definitions=False):
        made: cst.CSTNode | None = None
        match node:
            case cst.If(test=test, body=body) if _asks_for_none(test, name):
                set_there = (one for one in body_of(body) if isinstance(one, cst.Assign))
                made = next((one.value for one in set_there if is_name(one.targets[0].target, name)), None)
            case cst.BooleanOperation(left=left, operator=cst.Or(), right=right):
                made = right if is_name(left, name) else None
            case cst.IfExp(test=test):
                made = node.body if _asks_for_none(test, name) else node.orelse if mentions(test, name) else None
        if made is not None and (found := _choice_in(made)):
            return found
    return ""


def _asks_for_none(test: cst.BaseExpression, name: str) -> bool:
    """``device is None``, ``not device``."""
    match test:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.Equal())]):
            return is_name(left, name)
        case cst.UnaryOperation(operator=cst.Not(), expression=tested):
            return is_name(tested, name)
    return False


def _device_at_hand(interp: Interpreter, *, asked_for: bool) -> str:
    """A device of the caller that may be another: its parameter, its object's, or what its script or user chose.

    ``asked_for``: only what somebody says. What the machine has is chosen alike on both sides.
    """
    names = sorted(_NAMES, key=lambda name: name not in interp.state.values)  # its own before those of the file
    named = next((name for name in names if _may_be_another(interp.lookup(name), asked_for)), "")
    owner = interp.state.values.get("self")
    if named == "device":
        return named
    if not isinstance(owner, Self):
        return named or _among_options(interp)
    if interp.program.in_progress(owner.info):
        return named
    kept = (name for name in _KEPT_UNDER if _is_kept(interp, owner, name))
    own = next((name for name in kept if _may_be_another(of_self(interp, owner, name), asked_for)), "")
    return f"self.{own}" if own else named


_NAMES = ("device", "DEVICE", "dev", "torch_device", "Device")
"""How programs call the device that they work on."""

_KEPT_UNDER = ("device", "_device", "dev", "torch_device")


def _is_kept(interp: Interpreter, owner: Self, name: str) -> bool:
    method = owner.info.method(name)
    return name in interp.program.facts(owner.info).attributes or (method is not None and method.is_property)


def _tensor_at_hand(interp: Interpreter, site: CallSite) -> str:
    """The device of a tensor that the caller was handed and has not moved: ``x.device``.

    What is handed on is brought to the accelerator by the callee, and said to be by whoever calls that.
    """
    info, handed = interp.info, (one.value for one in site.arguments)
    if (
        info is None
        or interp.scope.role is not Role.LIBRARY
        or any(isinstance(value, (Tensor, Opaque, Module, Container)) for value in handed)
    ):
        return ""
    for parameter in parameters_of(info.header):
        name = parameter.name.value
        value = interp.state.values.get(name)
        if isinstance(value, Tensor) and isinstance(value.device, SameAs) and value.device.symbol.name == name:
            return f"{name}.device"
    return ""


def _among_options(interp: Interpreter) -> str:
    """The device among the options that the code around the call reads: ``args.device``."""
    for child in inner_nodes(_code_around(interp), into_definitions=False):
        if type(child) is not cst.Attribute or child.attr.value != "device" or type(child.value) is not cst.Name:
            continue
        name = child.value.value
        if names_options(name) and not _is_named(interp.state.values.get(f"{name}.device")):
            return f"{name}.device"
    return ""


def _code_around(interp: Interpreter) -> cst.CSTNode:
    return interp.info.node if interp.info is not None else interp.program.tree


def _is_named(value: Value | None) -> bool:
    """Whether the code has put the name of a device there itself."""
    return isinstance(value, (Constant, DeviceName)) and not _may_be_another(value)


def _may_be_another(value: Value, asked_for: bool = False) -> bool:
    """Whether a device was chosen by the machine or the caller, and is not the accelerator by its name.

    ``asked_for``: by the caller, if there is one.
    """
    if not isinstance(value, DeviceName) or value.of_tensor:
        return False
    if asked_for:
        return any(not isinstance(leaf, Known) for leaf in leaves(value.device))
    return value.chosen_by_probe or not isinstance(value.device, Known)
