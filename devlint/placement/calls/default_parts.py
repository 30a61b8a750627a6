"""Submodules that a constructor builds of the class it is handed: ``def __init__(self, norm_layer=nn.LayerNorm)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.domain.abstract_values import Reference
from devlint.placement.syntax.nodes import code_of, parameters_of
from devlint.source.dependency_parts import IMPORTS

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.domain.call_site import CallSite
    from devlint.placement.interpreter.interpreter import Interpreter


def builds_state_by_default(interp: Interpreter, init: FunctionInfo, site: CallSite) -> bool:
    """Whether it keeps what a class of ``torch.nn`` with state makes: its default, or one of the same kind.

    A class that is handed over in its place and holds nothing, ``norm_layer=nn.Identity``, says otherwise.
    """
    program = interp.program.holder(init)
    built = {
        stored.func.value
        for values in init.stored_expressions.values()
        for stored in values
        if isinstance(stored, cst.Call) and isinstance(stored.func, cst.Name)
    }
    if program is None or not built:
        return False
    if init.linkage is not None:
        init.linkage.depends_on(IMPORTS)
    for position, parameter in enumerate(parameters_of(init.node)):
        name, default = parameter.name.value, parameter.default
        if name not in built or not isinstance(default, (cst.Name, cst.Attribute)):
            continue
        handed = site.argument(name, position - 1)
        if _holds_state(program.index.imports.qualified(code_of(default))) and (
            handed is None or not isinstance(handed.value, Reference) or _holds_state(handed.value.name)
        ):
            return True
    return False


def _holds_state(name: str) -> bool:
    known = semantics.module(name) if name.startswith("torch.nn.") else None
    return known is not None and known.holds_state is True
