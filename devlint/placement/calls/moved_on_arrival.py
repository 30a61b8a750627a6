"""Arguments that a definition of the project moves before anything meets them, itself or by a helper."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.handed_on import parameter_at
from devlint.placement.declarations.brought_over import is_brought_over
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.evidence_grades import HandedOn
from devlint.placement.syntax.nodes import dotted

if TYPE_CHECKING:
    from devlint.placement.interpreter.program import Program


def is_moved_on_arrival(program: Program, info: FunctionInfo, name: str) -> bool:
    """Whether a definition brings what it gets for a parameter to a place of its own: ``x = to_device(x)``.

    ``program`` is any module of the workspace; the definition's own module says what its helpers are.
    """
    find = partial(_is_moved, program, info, name)
    # A definition that hands the parameter on to itself moves nothing by that.
    return find() if info.linkage is None else info.linkage.query(("moved on arrival", info.key, name), find, False)


def _is_moved(program: Program, info: FunctionInfo, name: str) -> bool:
    holder = program.holder(info)
    return is_brought_over(info.node, name, partial(_helper_moves, holder, info) if holder is not None else None)


def _helper_moves(program: Program, info: FunctionInfo, call: cst.Call, name: str) -> bool:
    """Whether a call hands the name to a function of the project that moves it on arrival."""
    callee = dotted(call.func)
    for position, argument in enumerate(call.args):
        if callee is None or argument.star:
            return False
        if not isinstance(argument.value, cst.Name) or argument.value.value != name:
            continue
        handed = HandedOn(callee, position, argument.keyword.value if argument.keyword is not None else "")
        found = parameter_at(program, info, handed)
        if found is None or not found[0].keeps_signature:
            return False
        return is_moved_on_arrival(program, found[0], found[1].name.value)
    return False
