"""Attributes that one method alone fills in: at its entry they hold nothing yet, or what it stored the last time.

``if self.mask is None: self.mask = torch.ones(n)``. Where the other arm has the attribute, it is the same value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.constructor_facts import is_buffer
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.declarations.own_transfers import moves_itself
from devlint.placement.domain.abstract_values import NONE
from devlint.placement.state.later_stores import is_stored_by_others

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
    from devlint.placement.interpreter.interpreter import Interpreter


def bind_kept(interp: Interpreter, info: FunctionInfo, me: str) -> None:
    """Bind each attribute that the method fills in to None, as what it stores is joined with what it stored before."""
    owner = info.owner
    if owner is None or not info.stores or owner.kind in (ClassKind.UNKNOWN, ClassKind.OPTIMIZER):
        return
    if interp.program.builds(info, owner) or info.name == "__init__":
        return
    for name in sorted(info.stores):
        if _begins_empty(interp, owner, name) and not moves_itself(owner, name):
            interp.state.values[f"{me}.{name}"] = NONE


def _begins_empty(interp: Interpreter, owner: ClassInfo, name: str) -> bool:
    """Whether no other method stores it, and the constructor at most None."""
    if is_stored_by_others(interp, owner, name) or interp.program.in_progress(owner):
        return False
    if owner.method(name) is not None or any(_is_set_in_body(one, name) for one in owner.order):
        return False
    fact = interp.program.facts(owner).attributes.get(name)
    return (fact is None or fact.value == NONE) and not is_buffer(interp, owner, name)


def _is_set_in_body(info: ClassInfo, name: str) -> bool:
    value = info.set_in_body.get(name)
    return value is not None and not (isinstance(value, cst.Name) and value.value == "None")
