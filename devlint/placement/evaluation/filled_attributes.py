"""Containers that an object keeps, before a loop that puts items into them: it begins with what the class says."""

from __future__ import annotations

from functools import partial

import libcst as cst

from devlint.placement.declarations.self_attributes import filled_attributes
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
    none: frozenset[str] = frozenset()
    filled = info.linkage.query(("filled attributes", info.key), partial(filled_attributes, info.node), none)
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
