"""Comprehensions: clauses evaluated in order, with a scope of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.bindings import assign, iterated
from devlint.placement.domain.abstract_state import root_of
from devlint.placement.domain.abstract_values import (
    Container,
    Value,
)
from devlint.placement.domain.events import Fate, LoopEntered, LoopLeft
from devlint.placement.state import conditions
from devlint.placement.syntax.nodes import descend

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def comprehension(interp: Interpreter, node: cst.ListComp | cst.SetComp | cst.GeneratorExp) -> Value:
    if type(node) is not cst.GeneratorExp:
        _throw_away_with(interp, node, node.elt)
    value = _comprehend(interp, node, [node.elt])[0]
    return Container((), None, value, "list", node)


def dict_comprehension(interp: Interpreter, node: cst.DictComp) -> Value:
    _throw_away_with(interp, node, node.value)
    _, value = _comprehend(interp, node, [node.key, node.value])
    return Container((), (), value, "dict", node)


def _throw_away_with(interp: Interpreter, node: cst.BaseComp, element: cst.BaseExpression) -> None:
    """``[x.to(device) for x in xs]`` as a statement: the results are thrown away with the list."""
    if interp.take_fate(node) == Fate.DISCARDED:
        interp.expect(element, Fate.DISCARDED)


def _comprehend(interp: Interpreter, node: cst.BaseComp, elements: list[cst.BaseExpression]) -> list[Value]:
    """The values of a comprehension's elements; its names are not visible outside."""
    clause: cst.CompFor | None = node.for_in
    outer = dict(interp.state.values)
    own: set[str] = set()
    while clause is not None:
        own.update(node.value for node in descend(clause.target) if isinstance(node, cst.Name))
        iterable = interp.evaluate(clause.iter)
        if clause is node.for_in:
            # The repeated part begins after the first iterable.
            interp.emit(LoopEntered(node, interp.scope))
        assign(interp, clause.target, iterated(interp, iterable, clause.target, clause.iter), None)
        for condition in clause.ifs:
            conditions.test(interp, condition.test)
        clause = clause.inner_for_in
    values = [interp.evaluate(element) for element in elements]
    interp.emit(LoopLeft(node, interp.scope))
    # A walrus binding remains visible outside.
    inner = interp.state.values
    interp.state.values = {path: value for path, value in inner.items() if root_of(path) not in own}
    interp.state.values.update((path, value) for path, value in outer.items() if root_of(path) in own)
    return values
