"""Statements: bindings, branches, loops, try, with, match, definitions."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from devlint.placement.calls import stated_types
from devlint.placement.calls.bindings import assign, bind_loop_target, delete, returned_device
from devlint.placement.declarations.imports import imported_names
from devlint.placement.domain.abstract_state import AbstractState, join
from devlint.placement.domain.abstract_values import NONE, NOTHING, Host, Tensor
from devlint.placement.domain.events import Fate, LoopEntered, LoopLeft, Returned
from devlint.placement.domain.lattice import Decided, Guard, GuardKind
from devlint.placement.evaluation.branching import branch
from devlint.placement.evaluation.expressions import binary_operation
from devlint.placement.evaluation.failed_attempts import without_attributes
from devlint.placement.evaluation.filled_attributes import load_filled
from devlint.placement.evaluation.placeholders import replaced_for_its_shape
from devlint.placement.evaluation.replaced_items import settle_replaced_items
from devlint.placement.interpreter.interpreter import Interpreter
from devlint.placement.operations.siblings import forget_what_is_told_a_device
from devlint.placement.operations.transfers import METHODS
from devlint.placement.state import conditions, contexts, first_rounds
from devlint.placement.state.devices import name_default
from devlint.placement.state.host_reads import host_read
from devlint.placement.state.unasked_choices import note_arms_alike, note_unasked_choice
from devlint.placement.syntax.nodes import body_of, code_of, contains, descend, dotted, semantic_children
from devlint.placement.syntax.operators import AUGMENTED
from devlint.records import replace


def expression_statement(interp: Interpreter, node: cst.Expr) -> None:
    elements = node.value.elements if type(node.value) is cst.Tuple else ()
    # Of one item it is the value that a cell of a notebook shows.
    parts = elements if len(elements) > 1 else ()
    for value in (node.value, *(part.value for part in parts)):
        interp.expect(value, Fate.DISCARDED)
    interp.evaluate(node.value)
    if type(node.value) is cst.Call:
        forget_what_is_told_a_device(interp, node.value)
        if _ends_the_process(interp, node.value):
            interp.leave()


def _ends_the_process(interp: Interpreter, call: cst.Call) -> bool:
    """``sys.exit()`` raises; what comes after ``if not args.cuda: sys.exit()`` runs in the other arm."""
    name = dotted(call.func) or ""
    first, _, rest = name.partition(".")
    if not rest and name in _BUILTIN_ENDS:
        return name not in interp.index.imports and name not in interp.index.top_level
    imported = interp.index.imports.get(first)
    return imported is not None and (f"{imported}.{rest}" if rest else imported) in _ENDS


_ENDS = frozenset({"sys.exit", "os._exit", "os.abort"})
_BUILTIN_ENDS = frozenset({"exit", "quit"})


def assignment(interp: Interpreter, node: cst.Assign) -> None:
    if imported_names(node):
        import_statement(interp, node)
        return
    name = _transferred_to(interp, node)
    if name and interp.info is not None:
        if interp.info.reads.get(name, 0) == 0:
            interp.expect(node.value, Fate.UNREAD)
        elif name in interp.info.loop_variables and _is_rebound(interp.info.node, node, name):
            interp.expect(node.value, Fate.REBOUND)
    value = interp.evaluate(node.value)
    for target in node.targets:
        assign(interp, target.target, value, node.value)


def _transferred_to(interp: Interpreter, node: cst.Assign) -> str:
    """The local name that a transfer's result is assigned to; empty for other assignments."""
    if len(node.targets) != 1 or type(node.value) is not cst.Call:
        return ""
    target = node.targets[0].target
    function = node.value.func
    if type(target) is not cst.Name or target.value.startswith("_") or type(function) is not cst.Attribute:
        return ""
    if function.attr.value not in METHODS or interp.is_declared_global(target.value):
        return ""
    return target.value


def _is_rebound(definition: cst.CSTNode, node: cst.Assign, name: str) -> bool:
    """``for x in tensors: x = x.to(device)``: whether nothing reads a loop's variable after it was assigned."""
    loop: cst.For | None = None
    behind = False
    for part in descend(definition):
        if type(part) is cst.For and not behind:
            binds = any(type(one) is cst.Name and one.value == name for one in descend(part.target))
            loop = part if binds and contains(part.body, node) else loop
        if part is node:
            behind = True
            own = {id(one) for one in descend(node)}
        elif behind and type(part) is cst.Name and part.value == name and id(part) not in own:
            return False
    return loop is not None


def annotated_assignment(interp: Interpreter, node: cst.AnnAssign) -> None:
    if node.value is not None:
        value = interp.evaluate(node.value)
        if interp.class_body and isinstance(node.target, cst.Name) and "device" in node.target.value:
            name_default(interp, value, node.value)
        assign(interp, node.target, stated_types.of_name(interp, node.annotation, value), node.value)


def augmented_assignment(interp: Interpreter, node: cst.AugAssign) -> None:
    target = interp.evaluate(node.target)
    value = interp.evaluate(node.value)
    symbol = AUGMENTED[type(node.operator)]
    result = binary_operation(interp, node, symbol, (target, node.target), (value, node.value))
    if isinstance(target, Tensor) and isinstance(result, Tensor) and not isinstance(node.target, cst.Name):
        # In place: what is kept stays where it is, whatever it meets.
        result = replace(result, device=target.device, provenance=target.provenance)
    assign(interp, node.target, result, node.value)


def return_statement(interp: Interpreter, node: cst.Return) -> None:
    value = NONE if node.value is None else returned_device(interp, node, interp.evaluate(node.value))
    arms = (*interp.arms, *interp.state.left)
    interp.emit(Returned(node, interp.scope, value, node.value, interp.under_device_guard, arms=arms))
    if isinstance(value, Host):
        host_read(interp, node, "return", value, expression=node.value)
    interp.leave_with(value)


def raise_statement(interp: Interpreter, node: cst.Raise) -> None:
    if node.exc is not None:
        interp.evaluate(node.exc)
    interp.leave()


def break_statement(interp: Interpreter, node: cst.Break) -> None:
    interp.leave_loop()


def continue_statement(interp: Interpreter, node: cst.Continue) -> None:
    interp.leave_iteration()


def assert_statement(interp: Interpreter, node: cst.Assert) -> None:
    condition = conditions.test(interp, node.test)
    if condition.known is None:
        # The code after it runs only if the condition holds.
        branch(interp, condition, lambda: None, interp.leave)
    elif not condition.known:
        # ``assert False, "not written yet"``: what stands below it is never run.
        interp.leave()


def del_statement(interp: Interpreter, node: cst.Del) -> None:
    delete(interp, node.target)


def global_statement(interp: Interpreter, node: cst.Global | cst.Nonlocal) -> None:
    interp.declare_global(item.name.value for item in node.names)


def if_statement(interp: Interpreter, node: cst.If) -> None:
    condition = conditions.test(interp, node.test)
    if condition.cpu_when is not None:
        note_unasked_choice(interp, node)
    note_arms_alike(interp, node, condition)
    replaced, made = replaced_for_its_shape(node), list[Tensor]()

    def then() -> None:
        interp.run(body_of(node.body))
        value = interp.env.values.get(replaced) if interp.env is not None else None
        if isinstance(value, Tensor):
            made.append(value)

    def otherwise() -> None:
        # What fits is what the body has put there an earlier time.
        if made and isinstance(interp.state.values.get(replaced), Tensor):
            interp.state.values[replaced] = made[0]
        if isinstance(node.orelse, cst.If):
            interp.execute(node.orelse)
        elif node.orelse is not None:
            interp.run(body_of(node.orelse.body))

    branch(interp, condition, then, otherwise)


def for_statement(interp: Interpreter, node: cst.For) -> None:
    iterable = interp.evaluate(node.iter)

    def enter() -> None:
        bind_loop_target(interp, node.target, iterable, node.iter)

    _loop(interp, node, enter, node.body, node.orelse, once=_is_of_one(node.iter))
    settle_replaced_items(interp, node)


def _is_of_one(node: cst.BaseExpression) -> bool:
    """Whether what a loop is over has one item, as ``range(1)`` and ``[x]`` have."""
    if isinstance(node, (cst.List, cst.Tuple)):
        return len(node.elements) == 1 and isinstance(node.elements[0], cst.Element)
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Name) or node.func.value != "range":
        return False
    bounds = [argument.value for argument in node.args]
    if not all(isinstance(bound, cst.Integer) for bound in bounds):
        return False
    return len(range(*(int(bound.evaluated_value) for bound in bounds if isinstance(bound, cst.Integer)))) == 1


def while_statement(interp: Interpreter, node: cst.While) -> None:
    def enter() -> None:
        conditions.test(interp, node.test)

    _loop(interp, node, enter, node.body, node.orelse)


def _loop(
    interp: Interpreter,
    node: cst.CSTNode,
    enter: Callable[[], None],
    body: cst.BaseSuite,
    orelse: cst.Else | None,
    *,
    once: bool = False,
) -> None:
    """Evaluate a loop in at most two rounds: a trial that finds what the body changes, and a round whose events count.

    A value that the body changes is a choice between the first iteration and later ones, if there are any. The state
    after the loop is that at the end of its body: a loop that does not run proves nothing.
    """
    load_filled(interp)
    before = interp.state
    key = f"{interp.scope.qualname}:first iteration@{id(node)}"
    first = Guard(key, "this is the first iteration", GuardKind.FIRST_ITERATION)
    with first_rounds.running(interp, first_rounds.counted(node, first)) as loop:
        if not interp.muted and not once:
            with interp.trial():
                after, _ = _round(interp, before.copy(), enter, body)
            start = join(first, before.copy(), after) or before
            loop.on_trial = False
        else:
            start = before
        interp.emit(LoopEntered(node, interp.scope))
        _, end = _round(interp, start.copy(), enter, body)
        interp.emit(LoopLeft(node, interp.scope))
    interp.env = end if end is not None else start
    if orelse is not None:
        interp.run(body_of(orelse.body))


def _round(
    interp: Interpreter, start: AbstractState, enter: Callable[[], None], body: cst.BaseSuite
) -> tuple[AbstractState | None, AbstractState | None]:
    """The state that the next iteration begins with, and the one that the loop may be left with."""
    interp.env = start
    with interp.in_loop() as loop:
        enter()
        first_rounds.begin(interp)
        interp.run(body_of(body))
    end: AbstractState | None = interp.env
    for state in loop.continues:
        end = join(None, end, state) if end is not None else state
    goes_on = end
    for state in loop.breaks:
        end = join(None, end, state) if end is not None else state
    return goes_on, end


def try_statement(interp: Interpreter, node: cst.Try | cst.TryStar) -> None:
    before = interp.state.copy()
    interp.tries += bool(node.handlers)
    interp.run(body_of(node.body))
    interp.tries -= bool(node.handlers)
    after = interp.env
    if node.orelse is not None:
        interp.run(body_of(node.orelse.body))
    end = interp.env
    for handler in node.handlers:
        if handler.type is not None:
            interp.env = before.copy()
            interp.evaluate(handler.type)
        interp.env = join(None, before.copy(), after.copy() if after is not None else None)
        if handler.name is not None and isinstance(handler.name.name, cst.Name):
            interp.state.store(handler.name.name.value, NOTHING)
        raised = Guard(f"raised:{id(handler)}", _raised(handler))
        # Where the body leaves the definition, what follows is reached by way of the handlers alone.
        interp.state.left = (*interp.state.left, Decided(raised, True))
        with without_attributes(interp, node.body, handler):
            interp.run(body_of(handler.body))
        end = join(raised, interp.env, end)
    interp.env = end
    if node.finalbody is not None:
        reachable = end is not None
        interp.env = end if end is not None else before
        interp.run(body_of(node.finalbody.body))
        if not reachable:
            interp.env = None


def _raised(handler: cst.ExceptHandler | cst.ExceptStarHandler) -> str:
    """The condition of what a handler does: ``LinAlgError is raised``."""
    return f"{code_of(handler.type) if handler.type is not None else 'an exception'} is raised"


def with_statement(interp: Interpreter, node: cst.With) -> None:
    entered = []
    for item in node.items:
        value = interp.evaluate(item.item)
        entered.append(contexts.enter(interp, item.item, value))
        if item.asname is not None:
            assign(interp, item.asname.name, contexts.target_value(value), item.item)
    interp.run(body_of(node.body))
    for leave in reversed(entered):
        if interp.env is not None:
            leave(interp.env)


def match_statement(interp: Interpreter, node: cst.Match) -> None:
    interp.evaluate(node.subject)
    before = interp.state
    end: AbstractState | None = None if _takes_all(node.cases[-1]) else before.copy()
    for case in node.cases:
        interp.env = before.copy()
        for name in _captured(case.pattern):
            interp.state.store(name, NOTHING)
        if case.guard is not None:
            interp.evaluate(case.guard)
        interp.run(body_of(case.body))
        end = join(None, end, interp.env)
    interp.env = end


def _takes_all(case: cst.MatchCase) -> bool:
    """``case _`` and ``case name``."""
    return case.guard is None and isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None


def _captured(pattern: cst.CSTNode) -> list[str]:
    """Names that a pattern binds."""
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


def import_statement(interp: Interpreter, node: cst.Import | cst.ImportFrom | cst.Assign) -> None:
    """Imports are indexed for the whole file; an import in a definition hides the previous value of the name."""
    linkage = interp.info.linkage if interp.info is not None else None
    for local, qualified in imported_names(node):
        interp.state.values.pop(local, None)
        if linkage is not None and interp.index.imports.get(local, qualified) != qualified:
            # Another import of the file binds the name to something else: `from .serving import Client`.
            interp.state.values[local] = linkage.imported(qualified)
