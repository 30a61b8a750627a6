"""Statements: bindings, branches, loops, try, with, match, definitions."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from devlint.placement.calls.bindings import assign, bind_loop_target, delete, reads_of
from devlint.placement.domain.abstract_state import Environment, join
from devlint.placement.domain.abstract_values import NONE, NOTHING
from devlint.placement.domain.events import Fate, LoopEntered, LoopLeft, Returned
from devlint.placement.domain.lattice import Guard, GuardKind
from devlint.placement.evaluation.branching import branch
from devlint.placement.evaluation.expressions import binary_operation
from devlint.placement.interpreter.interpreter import Walk
from devlint.placement.operations.transfers import METHODS
from devlint.placement.state import conditions, contexts
from devlint.placement.state.devices import name_default
from devlint.placement.syntax.nodes import body_of, semantic_children
from devlint.placement.syntax.operators import AUGMENTED


def expression_statement(walk: Walk, node: cst.Expr) -> None:
    walk.expect(node.value, Fate.DISCARDED)
    walk.evaluate(node.value)


def assignment(walk: Walk, node: cst.Assign) -> None:
    if _is_unread(walk, node):
        walk.expect(node.value, Fate.UNREAD)
    value = walk.evaluate(node.value)
    for target in node.targets:
        assign(walk, target.target, value, node.value)


def _is_unread(walk: Walk, node: cst.Assign) -> bool:
    """A transfer's result bound to a local name that nothing reads."""
    if walk.info is None or len(node.targets) != 1 or not isinstance(node.value, cst.Call):
        return False
    target = node.targets[0].target
    function = node.value.func
    if not isinstance(target, cst.Name) or target.value.startswith("_") or not isinstance(function, cst.Attribute):
        return False
    if function.attr.value not in METHODS or walk.is_declared_global(target.value):
        return False
    return reads_of(walk.info.node, target.value) == 0


def annotated_assignment(walk: Walk, node: cst.AnnAssign) -> None:
    if node.value is not None:
        value = walk.evaluate(node.value)
        if walk.in_class_body and isinstance(node.target, cst.Name) and "device" in node.target.value:
            name_default(walk, value, node.value)
        assign(walk, node.target, value, node.value)


def augmented_assignment(walk: Walk, node: cst.AugAssign) -> None:
    target = walk.evaluate(node.target)
    value = walk.evaluate(node.value)
    symbol = AUGMENTED[type(node.operator)]
    result = binary_operation(walk, node, symbol, (target, node.target), (value, node.value))
    assign(walk, node.target, result, node.value)


def return_statement(walk: Walk, node: cst.Return) -> None:
    value = NONE if node.value is None else walk.evaluate(node.value)
    walk.emit(Returned(node, walk.scope, value, node.value, walk.under_device_guard))
    walk.leave_with(value)


def raise_statement(walk: Walk, node: cst.Raise) -> None:
    if node.exc is not None:
        walk.evaluate(node.exc)
    walk.leave()


def break_statement(walk: Walk, node: cst.Break) -> None:
    walk.leave_loop()


def continue_statement(walk: Walk, node: cst.Continue) -> None:
    walk.leave_iteration()


def assert_statement(walk: Walk, node: cst.Assert) -> None:
    condition = conditions.test(walk, node.test)
    if condition.known is None:
        # What follows runs only where the condition held.
        branch(walk, condition, lambda: None, walk.leave)


def del_statement(walk: Walk, node: cst.Del) -> None:
    delete(walk, node.target)


def global_statement(walk: Walk, node: cst.Global | cst.Nonlocal) -> None:
    walk.declare_global(item.name.value for item in node.names)


def if_statement(walk: Walk, node: cst.If) -> None:
    condition = conditions.test(walk, node.test)

    def otherwise() -> None:
        if isinstance(node.orelse, cst.If):
            walk.execute(node.orelse)
        elif node.orelse is not None:
            walk.run(body_of(node.orelse.body))

    branch(walk, condition, lambda: walk.run(body_of(node.body)), otherwise)


def for_statement(walk: Walk, node: cst.For) -> None:
    iterable = walk.evaluate(node.iter)
    _loop(walk, node, lambda: bind_loop_target(walk, node.target, iterable, node.iter), node.body, node.orelse)


def while_statement(walk: Walk, node: cst.While) -> None:
    def enter() -> None:
        conditions.test(walk, node.test)

    _loop(walk, node, enter, node.body, node.orelse)


def _loop(
    walk: Walk, node: cst.CSTNode, enter: Callable[[], None], body: cst.BaseSuite, orelse: cst.Else | None
) -> None:
    """Two rounds at most: a trial that shows what the body changes, and the one whose events count.

    A value the body changed is a choice between the first iteration and a later one. The state after the loop is that
    of its body's end: a loop that never runs proves nothing.
    """
    before = walk.state
    if not walk.muted:
        with walk.trial():
            after = _round(walk, before.copy(), enter, body)
        key = f"{walk.scope.qualname}:first iteration@{id(node)}"
        first = Guard(key, "this is the first iteration", GuardKind.FIRST_ITERATION)
        start = join(first, before.copy(), after) or before
    else:
        start = before
    walk.emit(LoopEntered(node, walk.scope))
    end = _round(walk, start.copy(), enter, body)
    walk.emit(LoopLeft(node, walk.scope))
    walk.env = end if end is not None else start
    if orelse is not None:
        walk.run(body_of(orelse.body))


def _round(walk: Walk, start: Environment, enter: Callable[[], None], body: cst.BaseSuite) -> Environment | None:
    walk.env = start
    with walk.in_loop() as loop:
        enter()
        walk.run(body_of(body))
    end: Environment | None = walk.env
    for state in (*loop.continues, *loop.breaks):
        end = join(None, end, state) if end is not None else state
    return end


def try_statement(walk: Walk, node: cst.Try | cst.TryStar) -> None:
    before = walk.state.copy()
    walk.run(body_of(node.body))
    after = walk.env
    if node.orelse is not None:
        walk.run(body_of(node.orelse.body))
    ends: list[Environment | None] = [walk.env]
    for handler in node.handlers:
        if handler.type is not None:
            walk.env = before.copy()
            walk.evaluate(handler.type)
        walk.env = join(None, before.copy(), after.copy() if after is not None else None)
        if handler.name is not None and isinstance(handler.name.name, cst.Name):
            walk.state.store(handler.name.name.value, NOTHING)
        walk.run(body_of(handler.body))
        ends.append(walk.env)
    end: Environment | None = None
    for state in ends:
        end = join(None, end, state)
    walk.env = end
    if node.finalbody is not None:
        reachable = end is not None
        walk.env = end if end is not None else before
        walk.run(body_of(node.finalbody.body))
        if not reachable:
            walk.env = None


def with_statement(walk: Walk, node: cst.With) -> None:
    entered = []
    for item in node.items:
        value = walk.evaluate(item.item)
        entered.append(contexts.enter(walk, item.item, value))
        if item.asname is not None:
            assign(walk, item.asname.name, contexts.target_value(value), item.item)
    walk.run(body_of(node.body))
    for leave in reversed(entered):
        if walk.env is not None:
            leave(walk.env)


def match_statement(walk: Walk, node: cst.Match) -> None:
    walk.evaluate(node.subject)
    before = walk.state
    end: Environment | None = None if _takes_all(node.cases[-1]) else before.copy()
    for case in node.cases:
        walk.env = before.copy()
        for name in _captured(case.pattern):
            walk.state.store(name, NOTHING)
        if case.guard is not None:
            walk.evaluate(case.guard)
        walk.run(body_of(case.body))
        end = join(None, end, walk.env)
    walk.env = end


def _takes_all(case: cst.MatchCase) -> bool:
    """``case _`` and ``case name``."""
    return case.guard is None and isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None


def _captured(pattern: cst.CSTNode) -> list[str]:
    """Names a pattern binds."""
    found: list[str] = []
    stack: list[cst.CSTNode] = [pattern]
    while stack:
        node = stack.pop()
        if isinstance(node, (cst.MatchAs, cst.MatchStar)) and isinstance(node.name, cst.Name):
            found.append(node.name.value)
        elif isinstance(node, cst.MatchMapping) and isinstance(node.rest, cst.Name):
            found.append(node.rest.value)
        stack.extend(semantic_children(node))
    return found


def import_statement(walk: Walk, node: cst.Import | cst.ImportFrom) -> None:
    """Imports are indexed for the whole file; one inside a definition shadows what the name was."""
    from devlint.placement.declarations.imports import imported_names

    for local, _ in imported_names(node):
        walk.state.values.pop(local, None)
