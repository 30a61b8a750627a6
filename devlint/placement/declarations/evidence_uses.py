"""Type inference by use: what the body of a definition shows of each name in it, by the table of evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import libcst as cst

from devlint.placement.declarations import evidence_modules as modules
from devlint.placement.declarations import evidence_rows as rows
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.evidence_arms import BRANCHES, arm_of_tensors
from devlint.placement.declarations.evidence_calls import (
    arguments,
    given_to_method,
    gives_a_tensor,
    makes_tensor,
)
from devlint.placement.declarations.evidence_computed import (
    computed_from,
    is_axis,
    is_mask,
    is_of_several_axes,
    is_picked,
    note_computed,
)
from devlint.placement.declarations.evidence_found import Found, names_of
from devlint.placement.declarations.evidence_grades import Sign, Uses
from devlint.placement.declarations.evidence_literals import is_integer, is_text
from devlint.placement.declarations.evidence_loops import (
    counter,
    goes_through_keys,
    indexed_by,
    items_and_wholes,
    items_picked,
)
from devlint.placement.declarations.evidence_methods import called_by, sign_of_method
from devlint.placement.declarations.evidence_names import says_module
from devlint.placement.declarations.evidence_tests import asserted, chosen, compared, demanded, either, negated
from devlint.placement.declarations.imports import ImportTable
from devlint.placement.syntax.nodes import FunctionNode, code_of, dotted, inner_nodes, parameters_of


def uses_in(info: FunctionInfo, imports: ImportTable) -> Uses:
    """What the body of a definition shows of the names in it, gathered once. ``imports`` are those of its file."""
    info.depend_on_body()
    if info.uses is None:
        info.uses = uses_of(info.node, imports)
    return info.uses


def uses_of(node: FunctionNode, imports: ImportTable) -> Uses:
    """The signs of each name and item that the body uses."""
    parameters = parameters_of(node)
    found = Found(imports, [parameter.name.value for parameter in parameters])
    for parameter in parameters:
        if type(parameter.default) is cst.Call:
            found.note_class(parameter.name.value, dotted(parameter.default.func))
    _gather(inner_nodes(node.body), found)
    return found.uses()


def uses_at_module_level(statements: Sequence[cst.CSTNode], imports: ImportTable) -> Uses:
    """The signs of each name that a script uses outside of its definitions."""
    found = Found(imports, [])
    for statement in statements:
        if not isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            _gather(inner_nodes(statement, into_definitions=False), found)
    return found.uses()


def _gather(nodes: list[cst.CSTNode], found: Found) -> None:
    tested: dict[int, frozenset[str]] = {}
    for node in nodes:
        kind = type(node)
        if kind in BRANCHES and (arm := arm_of_tensors(node, found.imports)) is not None:
            name, read = arm
            tested.update((id(child), tested.get(id(child), frozenset()) | {name}) for child in read)
        gather = _GATHER.get(kind)
        if gather is not None:
            found.tested = tested.get(id(node), frozenset()) if tested else frozenset()
            gather(node, found)
    found.tested = frozenset()


def _call(node: cst.Call, found: Found) -> None:
    for argument in node.args:
        if argument.star == "*" and type(argument.value) is cst.Name:
            found.note_parameter(argument.value.value, rows.UNPACKED)
        elif argument.star == "**" and type(argument.value) is cst.Name:
            found.note(argument.value.value, rows.STRUCTURED)
    if type(node.func) is cst.Attribute and node.func.attr.value == "register_buffer" and len(node.args) > 1:
        # A Module takes nothing else for a buffer.
        for name in names_of(node.args[1].value):
            found.note_parameter(name, rows.TENSOR)
    if type(node.func) is cst.Attribute:
        sign = sign_of_method(node, node.func)
        if sign is not None:
            found.note(called_by(node.func.value), sign)
            if sign is rows.TENSOR:
                given_to_method(node, node.func.attr.value, found)
        _method(node, node.func.value, node.func.attr.value, sign, found)
    elif type(node.func) is cst.Name:
        found.note_parameter(node.func.value, rows.NO_TENSOR)
        found.note_parameter(node.func.value, rows.CALLED)
        found.functions.add(node.func.value)
        _doubts(node, node.func.value, found)
    arguments(node, found.imports, found)


def _method(call: cst.Call, receiver: cst.BaseExpression, method: str, sign: Sign | None, found: Found) -> None:
    """What a method shows of names beside what it shows of what it is called by."""
    if type(receiver) is cst.Name:
        if receiver.value == found.first and call.args:
            found.called.add(method)
        if method in rows.OF_MASKS:
            found.masks.add(receiver.value)
        if method in rows.NEVER_READ:
            found.method_calls[receiver.value, method] += 1
    elif method in rows.OF_MASKS and type(receiver) is cst.Comparison and is_mask(receiver):
        # ``(ratios == 1).any()``; of ``(position >= bounds).any()`` the bounds alone may have the shape.
        if not _is_ordered_among_others(receiver, found):
            found.note_parameter(dotted(receiver.left) or "", rows.ARRAY_LIKE)
    elif sign is rows.TENSOR or method in rows.MOVING_OR_CAST:
        if type(receiver) is cst.Subscript and is_of_several_axes(receiver):
            found.note_parameter(dotted(receiver.value) or "", rows.COMPUTED_OF)
        else:
            note_computed(receiver, found)
    if method == "log_prob" and call.args and type(call.args[0].value) is cst.Name:
        found.note_parameter(call.args[0].value.value, rows.GIVEN_TO_A_DISTRIBUTION)


def _is_ordered_among_others(node: cst.Comparison, found: Found) -> bool:
    """Whether something is held against the order of what is no parameter, and may be many values or one."""
    compared = node.comparisons[0]
    other = compared.comparator
    return type(compared.operator) in _ORDER and type(other) is cst.Name and other.value not in found.parameters


_ORDER = frozenset({cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual})


def _subscript(node: cst.Subscript, found: Found) -> None:
    _item(node, found)
    for element in node.slice:
        if type(element.slice) is cst.Index and type(element.slice.value) is cst.Name:
            found.note_parameter(element.slice.value.value, rows.INDEX)
    if type(node.value) is cst.Name and _is_key(node):
        found.note(node.value.value, rows.STRUCTURED)
    elif type(node.value) is cst.Subscript and type(node.value.value) is cst.Name and _is_key(node):
        # ``layers[0]["weight"]``
        found.note_parameter(node.value.value.value, rows.NO_TENSOR)
    if type(node.value) is not cst.Name or node.value.value not in found.parameters:
        return
    name = node.value.value
    found.note(name, rows.NO_NUMBER)
    index = node.slice[0].slice if len(node.slice) == 1 else None
    if isinstance(index, cst.Index) and isinstance(index.value, (cst.Name, cst.Integer)) and name not in found.bound:
        found.indexed.append((name, index.value.value))
    if _is_key(node) or _goes_backwards(node):
        found.note(name, rows.NO_TENSOR)
    elif (len(node.slice) > 1 and any(is_axis(part.slice) for part in node.slice)) or is_picked(node, found.masks):
        found.note(name, rows.ARRAY_LIKE)


def _formatted(node: cst.FormattedStringExpression, found: Found) -> None:
    if type(node.expression) is cst.Name:
        found.note_parameter(node.expression.value, rows.DOUBTFUL)


def _statement(node: cst.SimpleStatementLine, found: Found) -> None:
    """What the statements before it bind is bound from here on."""
    found.bind([])


def _assigned(node: cst.Assign, found: Found) -> None:
    stands_in = id(node) in found.stand_ins
    found.bind([] if stands_in else [name for target in node.targets for name in names_of(target.target)])
    found.picked += (pair for target in node.targets for pair in items_picked(target.target, node.value))
    for target in node.targets:
        attribute = target.target
        if type(attribute) is cst.Attribute and dotted(attribute.value) == found.first:
            if class_name := modules.class_called(node.value):
                found.made.append((attribute.attr.value, class_name))
            found.kept += ((name, attribute.attr.value) for name in _given(node.value) if name in found.parameters)
    if len(node.targets) == 1 and type(node.targets[0].target) is cst.Name:
        found.objects[node.targets[0].target.value] = modules.class_made(node.value)
        found.note_derived(node.targets[0].target.value, computed_from(node.value, found.masks), node.value)
        _taken_apart(node.targets[0].target.value, node.value, found)
        if is_mask(node.value):
            found.masks.add(node.targets[0].target.value)
        if gives_a_tensor(node.value, found.imports):
            found.computed[node.targets[0].target.value] += 1
    value, name = node.value, ""
    _values_and_indices(node, found)
    if type(value) is cst.Name and isinstance(node.targets[0].target, (cst.Tuple, cst.List)):
        found.note_parameter(value.value, rows.UNPACKED)
    if type(value) is cst.BooleanOperation and type(value.operator) is cst.Or:
        # `self.loss = loss or Loss()`
        name, value = dotted(value.left) or "", value.right
    elif type(value) is cst.IfExp:
        # `loss if loss is not None else Loss()`, in either order
        kept, made = (value.body, value.orelse) if type(value.body) is cst.Name else (value.orelse, value.body)
        name, value = dotted(kept) or "", made
    elif type(node.targets[0].target) is cst.Name:
        # `if loss is None: loss = Loss()`
        name = node.targets[0].target.value
    if type(value) is cst.Call and name in found.parameters:
        found.note_class(name, dotted(value.func))


def _values_and_indices(node: cst.Assign, found: Found) -> None:
    """``lengths, order = lengths.sort(descending=True)``: a list and an array are sorted in place, and give nothing."""
    match node:
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Tuple(elements=[_, _]))],
            value=cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value="sort" | "cummax" | "cummin"))),
        ):
            if type(receiver) is cst.Name:
                found.note(receiver.value, rows.TENSOR)
            else:
                note_computed(receiver, found)


def _taken_apart(name: str, value: cst.BaseExpression, found: Found) -> None:
    """``states = states[0]``: what is done with it from here on is done with an item."""
    if type(value) is cst.Subscript and type(value.value) is cst.Name and value.value.value == name:
        index = value.slice[0].slice if len(value.slice) == 1 else None
        whole_is_shaped = found.shows(name, rows.SHAPED)  # ``if ids.ndim == 3: ids = ids[0]``
        if isinstance(index, cst.Index) and is_integer(index.value) and name not in found.bound and not whole_is_shaped:
            found.note_parameter(name, rows.OTHERWISE)


def _given(expression: cst.BaseExpression | None) -> Iterator[str]:
    """The names of which the expression is one as it stands: ``loss``, ``loss or Loss()``, ``net.to(device)``."""
    match expression:
        case cst.Name():
            yield expression.value
        case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value=method))) if method in modules.KEEPING:
            yield from _given(value)
        case cst.BooleanOperation():
            yield from _given(expression.left)
        case cst.IfExp():
            yield from _given(expression.body)
            yield from _given(expression.orelse)


def _loop(node: cst.For | cst.CompFor, found: Found) -> None:
    found.bound.update(names_of(node.target))
    found.looped.update(names_of(node.target))
    if goes_through_keys(node.iter):
        found.gone_through.update(names_of(node.target))
    found.gone_through.update(counter(node.target, node.iter))
    if name := indexed_by(node.iter):
        found.note(name, rows.SEVERAL)
    if type(node.iter) is cst.Name:
        found.note(node.iter.value, rows.SEVERAL)
        found.note_parameter(node.iter.value, rows.DOUBTFUL)
    for target, whole in items_and_wholes(node.target, node.iter):
        if whole in found.parameters and type(target) is cst.Name:
            found.iterated.append((target.value, whole))


def _arithmetic(node: cst.BinaryOperation, found: Found) -> None:
    for operand, other in ((node.left, node.right), (node.right, node.left)):
        if type(operand) is cst.Call and type(operand.func) is cst.Attribute:
            if operand.func.attr.value in rows.PASSING:
                # ``scales.to(device) * radius``: no module and no batch is computed with.
                found.note_parameter(called_by(operand), rows.COMPUTED_OF)
        elif type(operand) is cst.Name:
            found.note_parameter(operand.value, rows.COMPUTED)
            made = type(other) is cst.Call and makes_tensor(other, found.imports)
            if type(node.operator) is cst.Subtract and not made and gives_a_tensor(other, found.imports):
                found.note_parameter(operand.value, rows.SUBTRACTED)
            if type(node.operator) is cst.MatrixMultiply:
                found.note_parameter(operand.value, rows.MATRIX)
            if made:
                found.note(operand.value, rows.BESIDE)
            if type(node.operator) is cst.Multiply and type(other) in _REPEATED:
                # `[row] * times`: how often is a number.
                found.note(operand.value, rows.NO_TENSOR)
        elif type(operand) is cst.Subscript and type(node.operator) in _OF_NO_LIST and _is_slice(operand):
            # ``v[1:] - v[:-1]``: no list and no text takes these operators.
            found.note(dotted(operand.value) or "", rows.SHAPED)
    if type(node.operator) is cst.Subtract and type(node.left) is cst.Name and type(node.right) is cst.Name:
        found.subtracted.append((node.left.value, node.right.value))


_REPEATED = frozenset({cst.List, cst.Tuple, cst.SimpleString, cst.FormattedString})
_OF_NO_LIST = frozenset({cst.Subtract, cst.Divide, cst.FloorDivide, cst.MatrixMultiply, cst.Power})


def _is_slice(node: cst.Subscript) -> bool:
    return type(node.value) is cst.Name and any(isinstance(part.slice, cst.Slice) for part in node.slice)


def _attribute(node: cst.Attribute, found: Found) -> None:
    holder, attribute = node.value, node.attr.value
    if type(holder) is cst.Name:
        sign = rows.of_attribute(attribute)
        found.note_parameter(holder.value, rows.NO_NUMBER)
        if sign is not None:
            found.note(holder.value, sign)
        if sign is rows.NO_TENSOR:
            found.note(holder.value, rows.STRUCTURED)
            if holder.value in found.parameters and holder.value not in found.bound:
                found.members.setdefault(holder.value, set()).add(attribute)
        if attribute in rows.NEVER_READ and holder.value in found.parameters:
            found.method_reads[holder.value, attribute] += 1
        if attribute in rows.COUNTS_OF_DIMENSIONS:
            found.dims_asked.add(holder.value)
        if attribute in rows.SHAPES:
            found.note(holder.value, rows.SHAPED)
        elif attribute in modules.LAYER_ATTRIBUTES:
            found.note_parameter(holder.value, modules.HOLDS_A_LAYER)
        elif attribute in modules.PARAMETERS and holder.value in found.parameters:
            found.parameters_of.setdefault(holder.value, set()).add(attribute)
        if attribute in rows.TEXT_METHODS:
            found.note_parameter(holder.value, rows.TEXT)
    elif type(holder) in (cst.Attribute, cst.Call) and attribute in rows.MODULE_ONLY:
        # ``net.to(device).eval()``
        if name := called_by(holder):
            found.note(name, rows.MODULE)
    elif type(holder) is cst.Attribute:
        if attribute in rows.MOVING:
            found.moved_attributes.add(dotted(holder) or "")
        elif attribute in modules.OF_A_PARAMETER and holder.attr.value == "weight" and type(holder.value) is cst.Name:
            found.note_parameter(holder.value.value, modules.HOLDS_A_LAYER)
        elif dotted(holder.value) == found.first and rows.of_attribute(attribute) is rows.NO_TENSOR:
            found.members.setdefault(f"{found.first}.{holder.attr.value}", set()).add(attribute)
            found.note(f"{found.first}.{holder.attr.value}", rows.NO_TENSOR)
    elif type(holder) is cst.Subscript and attribute in rows.TENSOR_ATTRIBUTES:
        # Models kept by name have a device as well.
        found.note(code_of(holder), rows.ATTRIBUTES[attribute])


def _item(node: cst.Subscript, found: Found) -> None:
    """``x[0]``, ``x[:, 1]``, ``x.shape[-1]``: of a tensor without a dimension there is no item and no such size."""
    holder = node.value
    if type(holder) is cst.Attribute and holder.attr.value == "shape":
        holder = holder.value
    if type(holder) is not cst.Name:
        return
    first = node.slice[0].slice
    whole = isinstance(first, cst.Index) and isinstance(first.value, (cst.Name, cst.Ellipsis, cst.SimpleString))
    if not whole or len(node.slice) > 1:
        found.note(holder.value, rows.DIMENSIONS)


def _doubts(call: cst.Call, function: str, found: Found) -> None:
    goes_through = function in rows.GONE_THROUGH
    if function in rows.CALLING and call.args and type(call.args[0].value) is cst.Name:
        found.note_parameter(call.args[0].value.value, rows.NO_TENSOR)
    if function == "len" and len(call.args) == 1 and type(call.args[0].value) is cst.Name:
        # Of a tensor without dimensions it raises a TypeError.
        found.note(call.args[0].value.value, rows.DIMENSIONS)
    asks_for_attributes = function in rows.READING_ATTRIBUTES
    for argument in call.args if goes_through or function in rows.DOUBTS else ():
        for name in names_of(argument.value):
            if not (asks_for_attributes and says_module(name)):
                found.note_parameter(name, rows.DOUBTFUL)
            if goes_through:
                found.note(name, rows.SEVERAL)
    if function == "isinstance" and len(call.args) == 2 and type(call.args[0].value) is cst.Name:
        asked = call.args[1].value
        for one in [element.value for element in asked.elements] if isinstance(asked, cst.Tuple) else [asked]:
            found.note_class(call.args[0].value.value, dotted(one) or "?")


def _is_key(node: cst.Subscript) -> bool:
    """``batch["image"]``, ``states[layer, "hidden"]``."""
    return any(isinstance(part.slice, cst.Index) and is_text(part.slice.value) for part in node.slice)


def _goes_backwards(node: cst.Subscript) -> bool:
    """``x[::-1]``, which no tensor takes."""
    part = node.slice[0].slice if len(node.slice) == 1 else None
    return isinstance(part, cst.Slice) and isinstance(part.step, cst.UnaryOperation)


_GATHER: dict[type[cst.CSTNode], Callable[[Any, Found], None]] = {
    cst.Attribute: _attribute,
    cst.Call: _call,
    cst.Subscript: _subscript,
    cst.FormattedStringExpression: _formatted,
    cst.Assign: _assigned,
    cst.Comparison: compared,
    cst.For: _loop,
    cst.CompFor: _loop,
    cst.Assert: asserted,
    cst.If: demanded,
    cst.SimpleStatementLine: _statement,
    cst.BinaryOperation: _arithmetic,
    cst.UnaryOperation: negated,
    cst.IfExp: chosen,
    cst.While: chosen,
    cst.BooleanOperation: either,
}
"""What a node of this type shows of names."""
