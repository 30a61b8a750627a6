"""Expressions other than calls and attributes: literals, names, operators, conditionals, comprehensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls.bindings import assign, item_of
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Constant,
    Container,
    DeviceName,
    Evidence,
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
from devlint.placement.domain.events import GlobalRead, Tested
from devlint.placement.domain.lattice import SOME_INDEX, Anchor, Known, SameAs
from devlint.placement.domain.value_join import join_values
from devlint.placement.evaluation.branching import branch
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.operands import operator_operands
from devlint.placement.operations.subscripts import read_item
from devlint.placement.state import conditions
from devlint.placement.state.field_types import ITEMS
from devlint.placement.syntax.nodes import code_of, literal, path_of
from devlint.placement.syntax.operators import BINARY

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Walk


def name(walk: Walk, node: cst.Name) -> Value:
    if node.value in ("None", "True", "False"):
        return Constant(literal(node), node)
    value = walk.lookup(node.value)
    if isinstance(value, DeviceName) and walk.info is not None:
        here = node.value in walk.state.values or node.value in walk.closure
        if not here:
            walk.emit(GlobalRead(node, walk.scope, node.value, value))
    return value


def constant(walk: Walk, node: cst.Integer | cst.Float | cst.SimpleString) -> Value:
    return Constant(literal(node), node)


def other_literal(walk: Walk, node: cst.CSTNode) -> Value:
    return Host(number=isinstance(node, cst.Imaginary))


def concatenated(walk: Walk, node: cst.ConcatenatedString) -> Value:
    value = node.evaluated_value
    return Host() if value is None else Constant(value, node)


def formatted(walk: Walk, node: cst.FormattedString) -> Value:
    """``f"cuda:{rank}"`` names a device that is decided elsewhere."""
    spelled: str | None = ""
    for part in node.parts:
        if isinstance(part, cst.FormattedStringExpression):
            value = walk.evaluate(part.expression)
            known = isinstance(value, Constant) and isinstance(value.value, (str, int))
            spelled = spelled + str(value.value) if known and spelled is not None else None  # type: ignore[union-attr]
        elif isinstance(part, cst.FormattedStringText) and spelled is not None:
            spelled += part.value
    if spelled is not None:
        return Constant(spelled, node)
    first = node.parts[0]
    if isinstance(first, cst.FormattedStringText):
        kind = first.value.split(":")[0]
        if kind in ("cuda", "xpu", "npu", "hpu"):
            return DeviceName(Known(kind, SOME_INDEX), node, code_of(node))
    return Host()


def sequence(walk: Walk, node: cst.Tuple | cst.List | cst.Set) -> Value:
    items: list[Value] = []
    rest: Value | None = None
    for element in node.elements:
        value = walk.evaluate(element.value)
        if isinstance(element, cst.StarredElement):
            more = item_of(walk, value, None)
            rest = more if rest is None else join_values(None, rest, more)
        else:
            items.append(value)
    kind = {cst.Tuple: "tuple", cst.List: "list", cst.Set: "set"}[type(node)]
    return Container(tuple(items), None, rest, kind, node)


def dictionary(walk: Walk, node: cst.Dict) -> Value:
    keys: list[object] = []
    items: list[Value] = []
    rest: Value | None = None
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            key = walk.evaluate(element.key)
            value = walk.evaluate(element.value)
            if isinstance(key, Constant):
                keys.append(key.value)
                items.append(value)
                continue
        else:
            value = item_of(walk, walk.evaluate(element.value), None)
        rest = value if rest is None else join_values(None, rest, value)
    return Container(tuple(items), tuple(keys), rest, "dict", node)


def binary(walk: Walk, node: cst.BinaryOperation) -> Value:
    """A chain of operators is evaluated along its left spine, so that its length costs no depth."""
    spine: list[cst.BinaryOperation] = []
    left: cst.BaseExpression = node
    while isinstance(left, cst.BinaryOperation):
        spine.append(left)
        left = left.left
    value = walk.evaluate(left)
    for operation in reversed(spine):
        right = walk.evaluate(operation.right)
        symbol = BINARY[type(operation.operator)]
        value = binary_operation(walk, operation, symbol, (value, operation.left), (right, operation.right))
    return value


def binary_operation(
    walk: Walk,
    node: cst.CSTNode,
    symbol: str,
    left: tuple[Value, cst.BaseExpression],
    right: tuple[Value, cst.BaseExpression],
) -> Value:
    """``left symbol right`` for tensors and for what is none."""
    values = (left[0], right[0])
    if any(isinstance(value, (Tensor, Opaque)) for value in values):
        operation = semantics.operator(symbol)
        return perform(walk, node, operation, operator_operands(operation, left, right))
    if any(isinstance(value, Container) for value in values):
        return _joined_containers(values)
    if any(isinstance(value, Host) and value.numpy for value in values):
        return array_of(*values)
    if isinstance(values[0], Constant) and isinstance(values[0].value, str):
        return Host()
    if all(isinstance(value, (Host, Constant)) for value in values):
        return Host(number=True)
    return NOTHING


def _joined_containers(values: Sequence[Value]) -> Value:
    """``[a] + [b]`` and ``[x] * n``."""
    items: list[Value] = []
    rest: Value | None = None
    for value in values:
        if isinstance(value, Container) and value.keys is None:
            items += value.items
            rest = value.rest if rest is None else rest
        elif not isinstance(value, (Host, Constant)):
            rest = NOTHING
    repeated = any(isinstance(value, (Host, Constant, UnknownValue)) for value in values)
    if repeated and items:
        rest = items[0] if rest is None else rest
    return Container(tuple(items), None, rest)


def unary(walk: Walk, node: cst.UnaryOperation) -> Value:
    if isinstance(node.operator, cst.Not):
        condition = conditions.test(walk, node)
        about = condition.cpu_when is not None
        return Truth(condition.known, about_device=about)
    value = walk.evaluate(node.expression)
    if isinstance(value, Constant) and isinstance(value.value, (int, float)) and isinstance(node.operator, cst.Minus):
        return Constant(-value.value, node)
    if isinstance(value, (Tensor, Opaque, Host)):
        return value
    return NOTHING


def boolean(walk: Walk, node: cst.BooleanOperation) -> Value:
    """``a or b`` as a value: one of its sides."""
    left = walk.evaluate(node.left)
    walk.emit(Tested(node.left, walk.scope, left))
    is_or = isinstance(node.operator, cst.Or)
    if isinstance(left, Truth) and left.known is not None:
        return left if left.known is is_or else walk.evaluate(node.right)
    if isinstance(left, Constant):
        return left if bool(left.value) is is_or else walk.evaluate(node.right)
    right = walk.evaluate(node.right)
    if isinstance(right, Reference):
        # A function where a truth value is wanted.
        walk.emit(Tested(node.right, walk.scope, right))
    if isinstance(left, Truth) and isinstance(right, Truth):
        return Truth(None, about_device=left.about_device or right.about_device)
    if not is_or:
        return Truth(None, about_device=any(isinstance(v, Truth) and v.about_device for v in (left, right)))
    condition = conditions._none_test(walk, node.left, left)
    if condition.known is not None:
        return right if condition.known else left
    return join_values(condition.guard, right, left)


def conditional(walk: Walk, node: cst.IfExp) -> Value:
    condition = conditions.test(walk, node.test)
    results: dict[bool, Value] = {}

    def arm(outcome: bool, expression: cst.BaseExpression) -> None:
        results[outcome] = walk.evaluate(expression)

    branch(walk, condition, lambda: arm(True, node.body), lambda: arm(False, node.orelse))
    then, otherwise = results.get(True, NOTHING), results.get(False, NOTHING)
    if condition.known is not None:
        chosen = then if condition.known else otherwise
        if isinstance(chosen, (DeviceName, Constant)) and condition.cpu_when is not None:
            return _chosen_by_probe(chosen)
        return chosen
    if condition.guard is not None and condition.negated:
        then, otherwise = otherwise, then
    return join_values(condition.guard, _as_device(then), _as_device(otherwise))


def _chosen_by_probe(value: DeviceName | Constant) -> Value:
    from devlint.placement.domain.device_names import name_of_constant

    named = name_of_constant(value) if isinstance(value, Constant) else value
    if named is None:
        return value
    return DeviceName(named.device, named.node, named.text, chosen_by_probe=True)


def _as_device(value: Value) -> Value:
    """A string that names a device, as that device, so that two arms can be joined."""
    from devlint.placement.domain.device_names import name_of_constant

    if isinstance(value, Constant):
        return name_of_constant(value) or value
    return value


def subscript(walk: Walk, node: cst.Subscript) -> Value:
    value = walk.evaluate(node.value)
    path = path_of(node)
    if path is not None and path in walk.state.values:
        return walk.state.values[path]
    if isinstance(value, Opaque):
        return _item_of_opaque(walk, node, value)
    if isinstance(value, Tensor):
        return read_item(walk, node, value)
    for element in node.slice:
        _evaluate_slice(walk, element.slice)
    if isinstance(value, (Container, Module, Host)):
        if any(isinstance(element.slice, cst.Slice) for element in node.slice):
            return Container((), None, item_of(walk, value, None)) if isinstance(value, Container) else value
        return item_of(walk, value, _constant_key(node))
    return NOTHING


def _item_of_opaque(walk: Walk, node: cst.Subscript, value: Opaque) -> Value:
    """One item of something of unknown type; how the definition uses it elsewhere may show that it is a tensor."""
    key = _constant_key(node)
    item: Value = value if key is not None else read_item(walk, node, value)
    if isinstance(key, str) and ITEMS in value.fields:
        return Tensor(value.device, evidence=Evidence.LIKELY, origin=value.origin)
    if not isinstance(item, Opaque):
        return item
    if isinstance(key, str):
        item = replace(item, moved=False)
    if not item.tensorlike and (walk.uses.tensor_items or walk.uses.placed_items):
        text = code_of(node)
        in_batch = isinstance(item.device, SameAs) and item.device.symbol.anchor is Anchor.BATCH
        if text in walk.uses.tensor_items or (in_batch and text in walk.uses.placed_items):
            return replace(item, tensorlike=True)
    return item


def _constant_key(node: cst.Subscript) -> object | None:
    if len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
        try:
            return literal(node.slice[0].slice.value)
        except ValueError:
            return None
    return None


def _evaluate_slice(walk: Walk, part: cst.BaseSlice) -> None:
    if isinstance(part, cst.Index):
        walk.evaluate(part.value)
    elif isinstance(part, cst.Slice):
        for bound in (part.lower, part.upper, part.step):
            if bound is not None:
                walk.evaluate(bound)


def walrus(walk: Walk, node: cst.NamedExpr) -> Value:
    value = walk.evaluate(node.value)
    assign(walk, node.target, value, node.value)
    return value


def awaited(walk: Walk, node: cst.Await) -> Value:
    walk.evaluate(node.expression)
    return NOTHING


def yielded(walk: Walk, node: cst.Yield) -> Value:
    if isinstance(node.value, cst.From):
        walk.evaluate(node.value.item)
    elif node.value is not None:
        walk.evaluate(node.value)
    return NOTHING


def anonymous(walk: Walk, node: cst.Lambda) -> Value:
    from devlint.placement.declarations.definitions import FunctionInfo

    if walk.depth:
        # What it closes over here holds for one call only.
        return NOTHING
    info = FunctionInfo(f"{walk.scope.qualname}.<lambda>".lstrip("."), node)
    info.closure = {**walk.closure, **walk.state.values}
    walk.program.defer(info)
    return Function(info, f"{walk.scope.path}:{info.qualname}:{id(node)}")
