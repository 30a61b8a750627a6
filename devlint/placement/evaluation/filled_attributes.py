"""Containers that an object keeps, before a loop that puts items into them: it begins with what the class says."""

from __future__ import annotations

import libcst as cst

from devlint.placement.domain.abstract_values import Container, Self
from devlint.placement.interpreter.interpreter import Interpreter
from devlint.placement.syntax.nodes import parameters_of


def load_filled(interp: Interpreter) -> None:
    """Note what the attributes hold by now.

    ``for key, x in batch.items(): self.sums[key] = self.sums[key] + x`` first meets what was there before the loop.
    """
    info = interp.info
    if info is None or info.owner is None or info.linkage is None or not isinstance(info.node, cst.FunctionDef):
        return
    assigned = (name for name, puts in info.fillings.items() if any(isinstance(put, cst.Subscript) for put in puts))
    filled = {name for name in assigned if name.isidentifier()}
    if not filled:
        return
    me = parameters_of(info.header)[0].name.value
    if not isinstance(interp.state.values.get(me), Self):
        return
    for name in sorted(filled):
        path = f"{me}.{name}"
        if path not in interp.state.values:
            held = interp.evaluate_quietly(cst.Attribute(cst.Name(me), cst.Name(name)))
            if isinstance(held, Container) and held.values:
                interp.state.values[path] = held
