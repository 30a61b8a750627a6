"""Devices and switches that a call hands to another parameter, by position, while the one for it keeps its default."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.parameters import scope_of
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.left_out_devices import SWITCHES
from devlint.placement.domain.abstract_values import Argument, DeviceName
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import DeviceMisplaced
from devlint.placement.syntax.device_words import speaks_of_devices
from devlint.placement.syntax.nodes import code_of, dotted, parameters_of, positions_of

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

_WANTED = frozenset({"device", "map_location", "torch_device"})


def note_misplaced_device(interp: Interpreter, node: cst.Call, info: FunctionInfo, site: CallSite, bound: bool) -> None:
    """Emit that a device of a call, or its switch for one, arrives in another parameter.

    ``bound``: the first parameter is the receiver.
    """
    if interp.muted or interp.depth > 0 or any(argument.star == "*" for argument in site.arguments):
        return
    devices = [(at, argument) for at, argument in enumerate(site.positional) if _wanted_by(argument)]
    if not devices:
        return
    by_position = [parameter for at, parameter in positions_of(info.header, bound=bound) if at is not None]
    given = {parameter.name.value for parameter in by_position[: len(site.positional)]}
    given |= {argument.keyword for argument in site.arguments if argument.keyword is not None}
    # `**kwargs` of the caller holds nothing that is a parameter of the caller.
    own = _own_parameters(interp) if site.unpacks else None
    left = [p for p in parameters_of(info.header) if p.default is not None and p.name.value not in given]
    holder = interp.program.holder(info) if left else None
    if holder is None:
        return
    scope = scope_of(info, holder.path, holder.role)
    for at, argument in devices:
        names = _wanted_by(argument) if own is None else _wanted_by(argument) & own
        wanted = next((parameter for parameter in left if parameter.name.value in names), None)
        taken = by_position[at] if at < len(by_position) else None
        if wanted is not None and taken is not None and not _may_take_a_device(taken):
            callee = dotted(node.func) or info.name
            interp.emit(DeviceMisplaced(argument.node, interp.scope, node, callee, taken, wanted, scope))


def _own_parameters(interp: Interpreter) -> set[str]:
    return {p.name.value for p in parameters_of(interp.info.header)} if interp.info is not None else set()


def _wanted_by(argument: Argument) -> frozenset[str]:
    """Names of the parameters that an argument is for: a device, or the switch that goes by the same name."""
    if _is_a_device(argument):
        return _WANTED
    name = (dotted(argument.node) or "").rpartition(".")[2]
    return frozenset({name}) if name in SWITCHES else frozenset()


def _is_a_device(argument: Argument) -> bool:
    """What is named as a device and holds one, or is made of one in the call itself."""
    if not isinstance(argument.value, DeviceName) or argument.value.is_type:
        return False
    if isinstance(argument.node, cst.Call):
        return True
    return (dotted(argument.node) or "").lower().endswith("device")


def _may_take_a_device(parameter: cst.Param) -> bool:
    stated = code_of(parameter.annotation.annotation) if parameter.annotation is not None else ""
    return speaks_of_devices(f"{parameter.name.value} {stated}") or parameter.name.value in ("args", "dev", "loc", "to")
