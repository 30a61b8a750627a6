"""Expressions other than calls and attributes: literals, names, operators, conditionals, comprehensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls.bindings import assign, item_of
from devlint.placement.calls.refused_calls import note_unbound_name
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Constant,
    Container,
    DeviceName,
    Function,
    Host,
    Module,
    Opaque,
    Reference,
    Tensor,
    Truth,
    UnknownValue,
    Value,
    array_of,
)
from devlint.placement.domain.device_names import name_of_constant
from devlint.placement.domain.events import GlobalRead, Sink, Tested
from devlint.placement.domain.lattice import is_accelerator
from devlint.placement.domain.value_join import join_values
from devlint.placement.evaluation.branching import branch
from devlint.placement.operations import built_strings
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.operands import operator_operands
from devlint.placement.state import conditions, module_switches
from devlint.placement.state.devices import note_dropped_request
from devlint.placement.state.host_reads import host_read
from devlint.placement.state.ranks import note_index
from devlint.placement.state.refusals import note_refused
from devlint.placement.state.unasked_choices import note_arms_alike, note_unasked_choice
from devlint.placement.syntax.nodes import literal
from devlint.placement.syntax.operators import BINARY
from devlint.records import replace
from devlint.semantics import Dim

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def name(interp: Interpreter, node: cst.Name) -> Value:
    if node.value in ("None", "True", "False"):
        return Constant(literal(node), node)
    value = interp.lookup(node.value)
    named = isinstance(value, DeviceName) or (isinstance(value, Tensor) and is_accelerator(value.device))
    if named and interp.info is not None:
        here = node.value in interp.state.values or node.value in interp.closure
        if not here:
            imported = node.value in interp.index.imports
            assert isinstance(value, (DeviceName, Tensor))
            interp.emit(GlobalRead(node, interp.scope, node.value, value, imported))
    elif value is NOTHING:
        note_unbound_name(interp, node)
    elif interp.info is None or not (node.value in interp.state.values or node.value in interp.closure):
        value = module_switches.as_set(node.value, value)
    if isinstance(value, Tensor) and value.dim is Dim.UNKNOWN and node.value in interp.uses.bound_with_dimensions:
        return replace(value, dim=Dim.NONZERO)
    return value


def constant(interp: Interpreter, node: cst.Integer | cst.Float | cst.SimpleString) -> Value:
    return Constant(literal(node), node)


def other_literal(interp: Interpreter, node: cst.CSTNode) -> Value:
    return Host(number=isinstance(node, cst.Imaginary))


def concatenated(interp: Interpreter, node: cst.ConcatenatedString) -> Value:
    value = node.evaluated_value
    return Host() if value is None else Constant(value, node)


def formatted(interp: Interpreter, node: cst.FormattedString) -> Value:
    """``f"cuda:{rank}"`` names a device with an index that is not known here."""
    parts: list[built_strings.Part] = []
    for part in node.parts:
        if isinstance(part, cst.FormattedStringExpression):
            parts.append(interp.evaluate(part.expression))
        elif isinstance(part, cst.FormattedStringText):
            parts.append(part.value)
    return _named(interp, node, built_strings.put_together(node, parts))


def _named(interp: Interpreter, node: cst.CSTNode, value: Value) -> Value:
    """A string that is put together, which may name an accelerator by the rank of the process."""
    note_index(interp, value, node, Sink.DEVICE)
    return value


def sequence(interp: Interpreter, node: cst.Tuple | cst.List | cst.Set) -> Value:
    items: list[Value] = []
    rest: Value | None = None
    for element in node.elements:
        value = interp.evaluate(element.value)
        if type(element) is cst.StarredElement:
            rest = _spread_out(interp, value, items, rest)
        else:
            items.append(value)
    kind = {cst.Tuple: "tuple", cst.List: "list", cst.Set: "set"}[type(node)]
    return Container(tuple(items), None, rest, kind, node)


def _spread_out(interp: Interpreter, value: Value, items: list[Value], rest: Value | None) -> Value | None:
    """What is not listed after ``*value``: a list that holds values of two places puts the second beside the first."""
    if not isinstance(value, Container) or value.keys is not None or value.type != "list":
        more = item_of(interp, value, None)
        return more if rest is None else join_values(None, rest, more)
    for part in value.values:
        if rest is None:
            rest = part
        elif part != rest:
            items.append(part)
    return rest


def dictionary(interp: Interpreter, node: cst.Dict) -> Value:
    keys: list[object] = []
    items: list[Value] = []
    rest: Value | None = None
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            key = interp.evaluate(element.key)
            value = interp.evaluate(element.value)
            if isinstance(key, Constant):
                keys.append(key.value)
                items.append(value)
                continue
        else:
            value = item_of(interp, interp.evaluate(element.value), None)
        rest = value if rest is None else join_values(None, rest, value)
    return Container(tuple(items), tuple(keys), rest, "dict", node)


def binary(interp: Interpreter, node: cst.BinaryOperation) -> Value:
    """A chain of operators is evaluated along its left spine, without recursion."""
    spine: list[cst.BinaryOperation] = []
    left: cst.BaseExpression = node
    while isinstance(left, cst.BinaryOperation):
        spine.append(left)
        left = left.left
    value = interp.evaluate(left)
    for operation in reversed(spine):
        right = interp.evaluate(operation.right)
        symbol = BINARY[type(operation.operator)]
        value = binary_operation(interp, operation, symbol, (value, operation.left), (right, operation.right))
    return value


def binary_operation(
    interp: Interpreter,
    node: cst.CSTNode,
    symbol: str,
    left: tuple[Value, cst.BaseExpression],
    right: tuple[Value, cst.BaseExpression],
) -> Value:
    """``left symbol right`` for tensors and other values."""
    values = (left[0], right[0])
    if isinstance(left[0], Constant) and isinstance(left[0].value, str):
        return _named(interp, node, built_strings.of_operation(node, symbol, left[0].value, right[0]))
    if symbol == "*" and (repeated := next((v for v in values if _is_sequence(v)), None)) is not None:
        return _joined_containers((repeated, Host(number=True)))
    no_tensors = [value for value in values if isinstance(value, UnknownValue) and value.bottom]
    if no_tensors and not any(isinstance(value, Tensor) for value in values):
        return no_tensors[0]
    if any(isinstance(value, (Tensor, Opaque)) for value in values):
        operation = semantics.operator(symbol)
        return perform(interp, node, operation, operator_operands(operation, left, right))
    if any(isinstance(value, Container) for value in values):
        if _adds_a_number_to_a_list(symbol, *values):
            interp.note_first_iteration_clash(node)
        if interp.clashed_in_first_iteration(node):
            # `total += scores_of(batch)`, and `total` is a number before the loop: its first iteration raises.
            note_refused(interp, node)
        return _extended(symbol, *values)
    if any(isinstance(value, Host) and value.numpy for value in values):
        for value, expression in (left, right):
            host_read(interp, node, symbol, value, expression=expression)
        return array_of(*values)
    if all(isinstance(value, (Host, Constant)) for value in values):
        return Host(number=True)
    return NOTHING


def _adds_a_number_to_a_list(symbol: str, left: Value, right: Value) -> bool:
    return symbol in ("+", "+=", "-", "-=") and any(
        _is_number(number) and _is_sequence(sequence) for number, sequence in ((left, right), (right, left))
    )


def _is_number(value: Value) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, (int, float))


def _is_sequence(value: Value) -> bool:
    """Whether it is a list or a tuple: multiplied, it is repeated."""
    return isinstance(value, Container) and value.keys is None and value.type in ("list", "tuple")


def _extended(symbol: str, left: Value, right: Value) -> Value:
    """``left + right`` or ``left += right`` where one of them is a plain container.

    Addition keeps the type of its left operand: a ModuleList or ParameterList stays one, with modules that are not
    known any more (torch/nn/modules/container.py, ``__add__`` and ``__iadd__``). An unknown left operand may be one.
    """
    if symbol in ("+", "+="):
        if isinstance(left, UnknownValue):
            return NOTHING
        if isinstance(left, Module):
            info = semantics.module(left.type_name)
            return replace(left, children=(), holds_state=None) if info is not None and info.container else NOTHING
    return _joined_containers((left, right))


def _joined_containers(values: Sequence[Value]) -> Value:
    """``[a] + [b]`` and ``[x] * n``."""
    items: list[Value] = []
    rest: Value | None = None
    for value in values:
        if isinstance(value, Container) and value.keys is None:
            items += value.items
            if rest is None:
                rest = value.rest
            elif value.rest is not None and value.rest != rest:
                # What is joined to the rest of the first is beside it, not in its place.
                items.append(value.rest)
        elif not isinstance(value, (Host, Constant)):
            rest = NOTHING
    repeated = any(isinstance(value, (Host, Constant, UnknownValue)) for value in values)
    if repeated and items:
        rest = items[0] if rest is None else rest
    return Container(tuple(items), None, rest)


def unary(interp: Interpreter, node: cst.UnaryOperation) -> Value:
    if isinstance(node.operator, cst.Not):
        condition = conditions.test(interp, node)
        about = condition.cpu_when is not None
        return Truth(condition.known, about_device=about)
    value = interp.evaluate(node.expression)
    if isinstance(value, Constant) and isinstance(value.value, (int, float)) and isinstance(node.operator, cst.Minus):
        return Constant(-value.value, node)
    if isinstance(value, (Tensor, Opaque, Host)):
        return value
    return NOTHING


def boolean(interp: Interpreter, node: cst.BooleanOperation) -> Value:
    """``a or b`` as a value: one of its operands."""
    left = interp.evaluate(node.left)
    interp.seconds += 1
    value = _one_operand(interp, node, left)
    interp.seconds -= 1
    return value


def _one_operand(interp: Interpreter, node: cst.BooleanOperation, left: Value) -> Value:
    interp.emit(Tested(node.left, interp.scope, left))
    is_or = isinstance(node.operator, cst.Or)
    if isinstance(left, Truth) and left.known is not None:
        return left if left.known is is_or else interp.evaluate(node.right)
    if isinstance(left, Constant):
        return left if bool(left.value) is is_or else interp.evaluate(node.right)
    right = interp.evaluate(node.right)
    if isinstance(right, Reference):
        # A function used as a truth value.
        interp.emit(Tested(node.right, interp.scope, right))
    if isinstance(left, Truth) and isinstance(right, Truth):
        return Truth(None, about_device=left.about_device or right.about_device)
    if not is_or:
        return Truth(None, about_device=any(isinstance(v, Truth) and v.about_device for v in (left, right)))
    condition = conditions._none_test(interp, node.left, left)
    if condition.known is not None:
        return right if condition.known else left
    return join_values(condition.guard, right, left)


def conditional(interp: Interpreter, node: cst.IfExp) -> Value:
    condition = conditions.test(interp, node.test)
    if condition.cpu_when is not None or condition.known is not None:
        note_dropped_request(interp, node)
        note_unasked_choice(interp, node)
    note_arms_alike(interp, node, condition)
    results: dict[bool, Value] = {}

    def arm(outcome: bool, expression: cst.BaseExpression) -> None:
        results[outcome] = interp.evaluate(expression)

    branch(interp, condition, lambda: arm(True, node.body), lambda: arm(False, node.orelse))
    then, otherwise = results.get(True, NOTHING), results.get(False, NOTHING)
    if condition.known is not None:
        chosen = then if condition.known else otherwise
        if isinstance(chosen, (DeviceName, Constant)) and condition.cpu_when is not None:
            return _chosen_by_probe(chosen, otherwise if condition.known else then)
        return chosen
    if condition.guard is not None and condition.negated:
        then, otherwise = otherwise, then
    return join_values(condition.guard, _as_device(then), _as_device(otherwise))


def _chosen_by_probe(value: DeviceName | Constant, other: Value) -> Value:
    named = name_of_constant(value) if isinstance(value, Constant) else value
    if named is None:
        return value
    chosen = DeviceName(named.device, named.node, named.text, chosen_by_probe=True, is_object=named.is_object)
    return replace(chosen, or_none=isinstance(other, Constant) and other.value is None)


def _as_device(value: Value) -> Value:
    """A string that names a device, as a device, so that two arms can be joined."""
    if isinstance(value, Constant):
        return name_of_constant(value) or value
    return value


def walrus(interp: Interpreter, node: cst.NamedExpr) -> Value:
    value = interp.evaluate(node.value)
    assign(interp, node.target, value, node.value)
    return value


def awaited(interp: Interpreter, node: cst.Await) -> Value:
    interp.evaluate(node.expression)
    return NOTHING


def yielded(interp: Interpreter, node: cst.Yield) -> Value:
    if isinstance(node.value, cst.From):
        interp.yield_from(interp.evaluate(node.value.item))
    elif node.value is not None:
        interp.yield_from(Container((), None, interp.evaluate(node.value), "tuple"))
    return NOTHING


def anonymous(interp: Interpreter, node: cst.Lambda) -> Value:
    info = FunctionInfo(f"{interp.scope.qualname}.<lambda>".lstrip("."), node)
    info.closure, info.parted = {**interp.closure, **interp.state.values}, dict(interp.state.moved_groups)
    if interp.depth == 0:
        # In a walk for one call its own mistakes are those of the definition around it.
        interp.program.defer(info)
    return Function(info, f"{interp.scope.path}:{info.qualname}:{id(node)}")
