"""Type inference by use: what the body of a definition shows of each name in it, by the table of evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from devlint import semantics
from devlint.placement.declarations import evidence_conventions as conventions
from devlint.placement.declarations import evidence_rows as rows
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.evidence_grades import HandedOn, Shows, Sign, Uses
from devlint.placement.declarations.imports import ImportTable
from devlint.placement.syntax.nodes import FunctionNode, code_of, descend, dotted, parameters_of
from devlint.semantics import Factory, Operation, library_models


class _Found:
    """The signs gathered so far."""

    def __init__(self, imports: ImportTable, parameters: frozenset[str]) -> None:
        self.imports = imports
        self.parameters = parameters
        self._signs: dict[str, set[Sign]] = {}
        self._handed_on: dict[str, list[HandedOn]] = {}
        self.bound: set[str] = set()
        """Names that the body binds."""
        self.iterated: list[tuple[str, str]] = []
        """Pairs of names: one of an item, and that of what is iterated."""

    def note(self, name: str, sign: Sign) -> None:
        self._signs.setdefault(name, set()).add(sign)

    def note_parameter(self, name: str, sign: Sign) -> None:
        """Note what is told of parameters alone."""
        if name in self.parameters:
            self.note(name, sign)

    def note_handed_on(self, name: str, handed: HandedOn) -> None:
        self._handed_on.setdefault(name, []).append(handed)

    def uses(self) -> Uses:
        for item, whole in self.iterated:
            signs = self._signs.get(item, set())
            if rows.TENSOR in signs and rows.MOVED not in signs:
                self.note(whole, rows.ITEMS)
        for name in self.bound & self._signs.keys():
            # Under the same name, it may be another value.
            self._signs[name] = {sign for sign in self._signs[name] if sign.shows is not Shows.NO_TENSOR}
        return Uses(
            {name: frozenset(signs) for name, signs in self._signs.items()},
            {name: tuple(handed) for name, handed in self._handed_on.items()},
        )


def uses_in(info: FunctionInfo, imports: ImportTable) -> Uses:
    """What the body of a definition shows of the names in it, gathered once. ``imports`` are those of its file."""
    if info.uses is None:
        info.uses = uses_of(info.node, imports)
    return info.uses


def uses_of(node: FunctionNode, imports: ImportTable) -> Uses:
    """The signs of each name and item that the body uses."""
    found = _Found(imports, frozenset(parameter.name.value for parameter in parameters_of(node)))
    for child in descend(node.body):
        gather = _GATHER.get(type(child))
        if gather is not None:
            gather(child, found)
    return found.uses()


def _call(node: cst.Call, found: _Found) -> None:
    if type(node.func) is cst.Attribute:
        sign = _sign_of_method(node, node.func)
        if sign is not None:
            found.note(_called_by(node.func.value), sign)
    elif type(node.func) is cst.Name:
        found.note_parameter(node.func.value, rows.NO_TENSOR)
        _doubts(node, node.func.value, found)
    _arguments(node, found.imports, found)


def _subscript(node: cst.Subscript, found: _Found) -> None:
    _item(node, found)
    if type(node.value) is not cst.Name or node.value.value not in found.parameters:
        return
    name = node.value.value
    found.note(name, rows.NO_NUMBER)
    if _is_key(node):
        found.note(name, rows.NO_TENSOR)
    elif len(node.slice) > 1 and any(_is_axis(part.slice) for part in node.slice):
        found.note(name, rows.ARRAY_LIKE)


def _formatted(node: cst.FormattedStringExpression, found: _Found) -> None:
    if type(node.expression) is cst.Name:
        found.note_parameter(node.expression.value, rows.DOUBTFUL)


def _bound(node: cst.AssignTarget, found: _Found) -> None:
    found.bound.update(_names_of(node.target))


def _loop(node: cst.For | cst.CompFor, found: _Found) -> None:
    found.bound.update(_names_of(node.target))
    if type(node.iter) is cst.Name and node.iter.value in found.parameters:
        found.note(node.iter.value, rows.DOUBTFUL)
        if type(node.target) is cst.Name:
            found.iterated.append((node.target.value, node.iter.value))


def _attribute(node: cst.Attribute, found: _Found) -> None:
    holder, attribute = node.value, node.attr.value
    if type(holder) is cst.Name:
        sign = rows.of_attribute(attribute)
        found.note_parameter(holder.value, rows.NO_NUMBER)
        if sign is not None:
            found.note(holder.value, sign)
        if attribute in rows.SHAPES:
            found.note(holder.value, rows.SHAPED)
    elif type(holder) is cst.Call and attribute in rows.MODULE_ONLY and (name := _called_by(holder)):
        # ``net.to(device).eval()``
        found.note(name, rows.ATTRIBUTES[attribute])
    elif type(holder) is cst.Subscript and attribute in rows.TENSOR_ATTRIBUTES:
        # Models kept by name have a device as well.
        found.note(code_of(holder), rows.ATTRIBUTES[attribute])


def _item(node: cst.Subscript, found: _Found) -> None:
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


def _called_by(node: cst.BaseExpression) -> str:
    """What a method is called by: a name, or an item written like ``batch[key]``; through what passes a tensor on."""
    while True:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in rows.PASSING:
            node = node.func.value
        elif isinstance(node, cst.Attribute) and node.attr.value == "data":
            node = node.value
        else:
            return code_of(node) if isinstance(node, cst.Subscript) else dotted(node) or ""


def _sign_of_method(call: cst.Call, function: cst.Attribute) -> Sign | None:
    """What a method shows by its name and by how it is called."""
    name = function.attr.value
    if name in rows.TENSOR_METHODS:
        return rows.TENSOR
    given = {argument.keyword.value: argument.value for argument in call.args if argument.keyword is not None}
    positional = [argument.value for argument in call.args if argument.keyword is None and not argument.star]
    match name:
        case "size":
            # An array's `size` is a number; a process group's is called without an argument.
            return (
                rows.TENSOR
                if positional and _is_integer(positional[0])
                else (rows.by_convention(conventions.SIZE_IS_CALLED) if not call.args else None)
            )
        case "view":
            # That of an array takes a dtype.
            return rows.TENSOR if len(positional) > 1 or any(map(_is_integer, positional)) else None
        case "backward":
            return rows.by_convention(conventions.IS_BACKPROPAGATED) if not call.args else None
        case "numpy" if not positional:
            passed_on = not isinstance(function.value, (cst.Name, cst.Subscript))
            return rows.TENSOR if passed_on else rows.by_convention(conventions.GIVES_AN_ARRAY)
        case _ if name in rows.REDUCTIONS:
            told = (rows.KEYWORDS[key] for key, value in given.items() if key in rows.KEYWORDS and not _is_text(value))
            return next(told, None)
        case _:
            return None


def _doubts(call: cst.Call, function: str, found: _Found) -> None:
    for argument in call.args if function in rows.DOUBTS else ():
        for name in _names_of(argument.value):
            found.note_parameter(name, rows.DOUBTFUL)


def _is_axis(part: cst.BaseSlice) -> bool:
    """``:``, ``...`` or ``None`` among several indices."""
    if isinstance(part, cst.Slice):
        return True
    return isinstance(part, cst.Index) and (
        isinstance(part.value, cst.Ellipsis) or (isinstance(part.value, cst.Name) and part.value.value == "None")
    )


def _is_key(node: cst.Subscript) -> bool:
    """``batch["image"]``."""
    index = node.slice[0].slice if len(node.slice) == 1 else None
    return isinstance(index, cst.Index) and _is_text(index.value)


def _is_integer(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.UnaryOperation):
        node = node.expression
    return isinstance(node, cst.Integer)


def _is_text(node: cst.BaseExpression) -> bool:
    if isinstance(node, (cst.List, cst.Tuple)):
        return any(_is_text(element.value) for element in node.elements)
    return isinstance(node, (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString))


def _asserted(node: cst.Assert, found: _Found) -> None:
    """``assert isinstance(x, torch.Tensor)``."""
    test = node.test
    if not isinstance(test, cst.Call) or dotted(test.func) != "isinstance" or len(test.args) != 2:
        return
    tested, type_ = (argument.value for argument in test.args)
    if isinstance(tested, cst.Name) and found.imports.qualified(dotted(type_)) == "torch.Tensor":
        found.note(tested.value, rows.TENSOR)


def _arguments(call: cst.Call, imports: ImportTable, found: _Found) -> None:
    """What the names handed to a function are, by its parameters."""
    name = imports.qualified(dotted(call.func))
    first = call.args[0].value if call.args else None
    if name in rows.CONVERSIONS:
        if isinstance(first, cst.Name):
            # What is converted to a tensor was none; a later use under the same name is the result's.
            found.note(first.value, rows.CONVERSIONS[name])
        return
    if name.startswith("numpy."):
        if isinstance(first, cst.Name):
            found.note(first.value, rows.NUMPY_READS)
        return
    if name in rows.SIZED:
        _sized(call, found)
    operation = semantics.function(name)
    if operation is None:
        _handed_on(call, found)
    if isinstance(operation, Factory):
        _sizes(call, found)
        if name.endswith("_like") and isinstance(first, cst.Name):
            found.note(first.value, rows.TENSOR)
    if not isinstance(operation, Operation) or library_models.takes_images(name):
        return
    by_name = {parameter.name: parameter for parameter in operation.parameters}
    for position, argument in enumerate(call.args):
        if argument.star:
            break
        parameter = None
        if argument.keyword is not None:
            parameter = by_name.get(argument.keyword.value)
        elif position < len(operation.parameters):
            parameter = operation.parameters[position]
        if parameter is None or parameter.kind == "other" or parameter.name in operation.zero_dim:
            # Where a 0-dim tensor may stand, so may a number.
            continue
        leading = parameter is operation.parameters[0]
        if leading or parameter.kind == "tensors" or parameter.name in rows.ALWAYS_TENSORS:
            # Beyond the first, many tensor parameters take numbers as well.
            for one in _names_of(argument.value):
                found.note(one, rows.TENSOR)


def _sized(call: cst.Call, found: _Found) -> None:
    for argument in call.args:
        if argument.keyword is None and not argument.star:
            for name in _names_of(argument.value):
                found.note_parameter(name, rows.SIZE)


def _handed_on(call: cst.Call, found: _Found) -> None:
    """Names that are, as they stand, arguments of what no table lists."""
    callee = dotted(call.func)
    if not callee:
        return
    for position, argument in enumerate(call.args):
        if argument.star:
            return
        if isinstance(argument.value, cst.Name) and argument.value.value in found.parameters:
            keyword = argument.keyword.value if argument.keyword is not None else ""
            found.note_handed_on(argument.value.value, HandedOn(callee, position, keyword))


def _sizes(call: cst.Call, found: _Found) -> None:
    """``torch.zeros(x.shape[0])``: what is made in the size of a name is made to stand beside it."""
    for argument in call.args:
        if argument.star:
            continue
        parts = argument.value.elements if isinstance(argument.value, (cst.Tuple, cst.List)) else ()
        for part in [argument.value, *(element.value for element in parts)]:
            shape = part.value if isinstance(part, cst.Subscript) else part
            if isinstance(shape, cst.Attribute) and shape.attr.value == "shape" and isinstance(shape.value, cst.Name):
                found.note(shape.value.value, rows.by_convention(conventions.SIZES_A_CREATION))


def _names_of(node: cst.BaseExpression) -> list[str]:
    if isinstance(node, cst.Name):
        return [node.value]
    if isinstance(node, (cst.List, cst.Tuple)):
        return [element.value.value for element in node.elements if isinstance(element.value, cst.Name)]
    return []


_GATHER: dict[type[cst.CSTNode], Callable[[Any, _Found], None]] = {
    cst.Attribute: _attribute,
    cst.Call: _call,
    cst.Subscript: _subscript,
    cst.FormattedStringExpression: _formatted,
    cst.AssignTarget: _bound,
    cst.For: _loop,
    cst.CompFor: _loop,
    cst.Assert: _asserted,
}
"""What a node of this type shows of names."""
