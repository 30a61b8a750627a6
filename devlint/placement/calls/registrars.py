"""Functions that register in a constructor what they are handed, under a name that they are handed.

``register_buffer = lambda name, value: self.register_buffer(name, value.float())``, a function that the constructor
defines, or a method of the class. Another arm of it may keep a parameter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.constructor_facts import note_attribute, note_buffer
from devlint.placement.domain.abstract_values import Constant, Kind, Self, Tensor
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import descend, inner_nodes, parameters_of
from devlint.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.domain.call_site import CallSite
    from devlint.placement.interpreter.interpreter import Interpreter


@dataclass(frozen=True, slots=True)
class _Registers:
    """``method``: ``register_buffer`` or ``register_parameter``; ``name`` and ``value``: the parameters of both."""

    method: str
    name: str
    value: str


_METHODS = ("register_buffer", "register_parameter")


def register_what_is_handed(interp: Interpreter, node: cst.Call, info: FunctionInfo, site: CallSite) -> None:
    """Keep what a call in a constructor has registered."""
    if interp.scope.setting is not Setting.CONSTRUCTION or not site.arguments or site.unpacks:
        return
    if info.has_receiver and not info.mentions(*_METHODS):
        return
    arms = tuple(_registered_by(info))
    keeper = _keeper(interp)
    if not arms or keeper is None or not interp.program.builds(interp.info, keeper.info):
        return
    if not keeper.info.is_module or any(keeper.info.method(arm.method) is not None for arm in arms):
        # A method of its own by that name, as samplers of diffusion models have, moves what it keeps.
        return
    found = arms[0]
    parameters = [parameter.name.value for parameter in parameters_of(info.node)][info.has_receiver :]
    given = {name: site.argument(name, place) for place, name in enumerate(parameters)}
    name, value = given.get(found.name), given.get(found.value)
    if name is None or value is None or not isinstance(name.value, Constant):
        return
    key, stored = str(name.value.value), value.value
    if isinstance(stored, Tensor):
        parameter = stored.kind is Kind.PARAMETER or all(arm.method == "register_parameter" for arm in arms)
        stored = replace(stored, kind=Kind.PARAMETER if parameter else Kind.BUFFER)
    note_buffer(interp, keeper.info, key)
    note_attribute(interp, keeper, key, stored, node)
    interp.state.store(f"self.{key}", stored)


def _keeper(interp: Interpreter) -> Self | None:
    """``self`` of the constructor that runs."""
    first = parameters_of(interp.info.header)[:1] if interp.info is not None else []
    value = interp.lookup(first[0].name.value) if first else None
    return value if isinstance(value, Self) else None


def _registered_by(info: FunctionInfo) -> Iterator[_Registers]:
    names = {parameter.name.value for parameter in parameters_of(info.node)}
    for node in inner_nodes(info.node.body):
        if type(node) is not cst.Call or type(node.func) is not cst.Attribute:
            continue
        method, given = node.func.attr.value, [argument.value for argument in node.args]
        if method not in _METHODS or not isinstance(node.func.value, cst.Name) or len(given) < 2:
            continue
        if isinstance(given[0], cst.Name) and given[0].value in names:
            handed = [
                child.value for child in descend(given[1]) if isinstance(child, cst.Name) and child.value in names
            ]
            if handed and handed[0] != given[0].value:
                yield _Registers(method, given[0].value, handed[0])
