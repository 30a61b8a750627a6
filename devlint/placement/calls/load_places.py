"""Parameters that a definition hands to ``torch.load`` as ``map_location``, itself or through what it calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.lattice import GuardKind
from devlint.placement.syntax.nodes import parameters_of, positions_of

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.domain.abstract_values import Argument
    from devlint.placement.domain.call_site import CallSite
    from devlint.placement.interpreter.interpreter import Interpreter


def note_load(interp: Interpreter, site: CallSite) -> None:
    """Record the parameter of the current definition that ``torch.load`` is given as ``map_location``, if it is one."""
    given = site.argument("map_location", 1)
    if given is not None and _is_untouched(interp, given):
        _note(interp, given)


def note_call(interp: Interpreter, node: cst.Call, info: FunctionInfo, site: CallSite) -> None:
    """Record what a call of the project says of the places that its callee loads to."""
    telling = [(name, given) for name, given in _given(info, site) if given is None or _is_untouched(interp, given)]
    if not telling:
        return  # whatever it loads; to know that, all of it would be evaluated
    program = interp.program.holder(info)
    places = program.load_places_of(info) if program is not None else frozenset()
    for name, given in telling:
        if name in places and given is not None:
            _note(interp, given)
        elif name in places:
            interp.note_left_out(node, name)


def _given(info: FunctionInfo, site: CallSite) -> Iterator[tuple[str, Argument | None]]:
    """The parameters with their arguments, and those without one that are None then."""
    for position, parameter in positions_of(info.header, bound=info.has_receiver):
        name = parameter.name.value
        given = site.argument(name, position)
        default = parameter.default
        if given is not None or (not site.unpacks and isinstance(default, cst.Name) and default.value == "None"):
            yield name, given


def _note(interp: Interpreter, given: Argument) -> None:
    assert isinstance(given.node, cst.Name)
    interp.load_places.add(given.node.value)


def _is_untouched(interp: Interpreter, given: Argument) -> bool:
    """The argument is a parameter that still has the caller's value: a body that chooses another one is no culprit."""
    if interp.info is None or not isinstance(given.node, cst.Name):
        return False
    name = given.node.value
    untouched = interp.state.versions.get(name, 0) == 0
    own = {parameter.name.value for parameter in parameters_of(interp.info.header)}
    return untouched and name in own and not _is_there(interp, name)


def _is_there(interp: Interpreter, name: str) -> bool:
    """Whether the body has asked: whoever leaves the parameter out gets another arm."""
    absent = (one for one in interp.decided if one.guard.kind is GuardKind.IS_NONE and not one.holds)
    return any(one.guard.text == f"{name} is None" for one in absent)
