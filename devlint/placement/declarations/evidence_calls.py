"""What the arguments of a call show of the names handed to it, by what is called."""

from __future__ import annotations

import libcst as cst

from devlint import semantics
from devlint.placement.declarations import evidence_conventions as conventions
from devlint.placement.declarations import evidence_modules as modules
from devlint.placement.declarations import evidence_rows as rows
from devlint.placement.declarations.evidence_computed import note_computed
from devlint.placement.declarations.evidence_found import Found, names_of
from devlint.placement.declarations.evidence_grades import BUILT, INHERITED, HandedOn
from devlint.placement.declarations.imports import ImportTable
from devlint.placement.syntax.nodes import dotted
from devlint.semantics import Factory, Operation, Result, library_models


def arguments(call: cst.Call, imports: ImportTable, found: Found) -> None:
    """What the names handed to a function are, by its parameters."""
    written = dotted(call.func)
    name = imports.qualified(written)
    first = call.args[0].value if call.args else None
    if name in rows.CONVERSIONS:
        if isinstance(first, cst.Name):
            # What is converted to a tensor was none; a later use under the same name is the result's.
            found.note(first.value, rows.CONVERSIONS[name])
        return
    if name.startswith("numpy."):
        if isinstance(first, cst.Name):
            found.note(first.value, rows.NUMPY_READS)
        elif brought := _brought_to_cpu(first):
            # A Module has the method as well, and is nothing that numpy reads.
            found.note(brought, rows.TENSOR)
        return
    if name in rows.SIZED:
        _sized(call, found)
    _named_by_texts(call, name, found)
    for taken in modules.taken(call, name):
        found.note_parameter(taken, rows.MODULE)
    head = (written or "").partition(".")[0] if name.partition(".")[0] in rows.OF_TEXTS else ""
    if head in imports and head not in found.parameters:
        _written(call, found)
    elif type(call.func) is cst.Attribute and call.func.attr.value in rows.SIZING:
        _reshaped(call, call.func.value, found)
    operation = semantics.function(name)
    if operation is None:
        for callee in (_built(call.func, found), written or _inherited(call.func)):
            _handed_on(call, callee, found)
    if isinstance(operation, Factory):
        _sizes(call, found)
        if name.endswith("_like") and isinstance(first, cst.Name):
            found.note(first.value, rows.TENSOR)
    if not isinstance(operation, Operation) or library_models.takes_images(name) or name in rows.TAKING_ANYTHING:
        return
    by_name = {parameter.name: parameter for parameter in operation.parameters}
    for position, argument in enumerate(call.args):
        if argument.star:
            break
        if type(argument.value) is cst.Name:
            found.note_parameter(argument.value.value, rows.COMPUTED)
        parameter = None
        if argument.keyword is not None:
            parameter = by_name.get(argument.keyword.value)
        elif position < len(operation.parameters):
            parameter = operation.parameters[position]
        elif name in rows.VARIADIC:
            parameter = operation.parameters[-1]
        if parameter is not None and parameter.name == "other" and name in rows.OF_TWO_TENSORS:
            for one in names_of(argument.value):
                found.note(one, rows.TENSOR)
        if parameter is None or parameter.kind == "other":
            continue
        if parameter.name in operation.zero_dim and parameter.name not in rows.NEVER_NUMBERS:
            # Where a 0-dim tensor may stand, so may a number.
            continue
        leading = parameter is operation.parameters[0]
        listed = name.startswith("torch._foreach_") or (leading and name in rows.JOINING)
        if listed and parameter.kind == "tensors" and isinstance(argument.value, cst.Name):
            found.note_parameter(argument.value.value, rows.SEVERAL)
            found.note_parameter(argument.value.value, rows.ITEMS)
        elif leading or parameter.kind == "tensors" or parameter.name in rows.ALWAYS_TENSORS:
            # Beyond the first, many tensor parameters take numbers as well.
            for one in names_of(argument.value):
                found.note(one, rows.TENSOR)
            note_computed(argument.value, found)


_LEAVES = frozenset({"numpy", "item", "tolist", "size", "numel", "dim"})
"""Methods of a tensor that give none."""


def given_to_method(call: cst.Call, method: str, found: Found) -> None:
    """``hidden.masked_fill(mask, 0)``: what only a tensor has a method for is a tensor."""
    operation = semantics.method(method)
    if not isinstance(operation, Operation):
        return
    names = [parameter.name if parameter.kind == "tensor" else "" for parameter in operation.parameters[1:]]
    for name, argument in zip(names, call.args, strict=False):
        if argument.star:
            return
        named = argument.keyword.value if argument.keyword is not None else name
        if type(argument.value) is cst.Name and named in rows.READ_BY_METHODS:
            found.note(argument.value.value, rows.READ_BY_A_TENSOR)


def makes_tensor(call: cst.Call, imports: ImportTable) -> bool:
    """``torch.from_numpy(noise).float()``: a creation of torch, or what its methods make of one."""
    while isinstance(call.func, cst.Attribute) and isinstance(call.func.value, cst.Call):
        if call.func.attr.value in _LEAVES:
            return False
        call = call.func.value
    name = imports.qualified(dotted(call.func))
    return isinstance(semantics.function(name), Factory) and name != "torch.Generator"


def gives_a_tensor(node: cst.BaseExpression, imports: ImportTable) -> bool:
    """``torch.exp(x)``, ``logits.softmax(-1)``: what a function of torch gives, or a method that tensors alone have.

    One that may give several says nothing.
    """
    if type(node) is not cst.Call:
        return False
    name = imports.qualified(dotted(node.func))
    operation = semantics.function(name) if name.startswith("torch.") else None
    if operation is None and type(node.func) is cst.Attribute and node.func.attr.value in rows.TENSOR_METHODS:
        operation = semantics.method(node.func.attr.value)
    if not isinstance(operation, Operation):
        return makes_tensor(node, imports)
    return operation.result in _TENSORS and not (operation.returns_tuple or operation.tuple_with)


_TENSORS = frozenset({Result.OPERANDS, Result.SELF, Result.OTHER, Result.CPU})


def makes_several(node: cst.BaseExpression, imports: ImportTable) -> bool:
    """Whether a tensor of several elements is made, for which no number may stand: not ``torch.tensor(1.0)``.

    Beside a parameter of a model that is made, another one would be given: it is no plain tensor.
    """
    if type(node) is not cst.Call:
        return False
    first = node
    while isinstance(first.func, cst.Attribute) and isinstance(first.func.value, cst.Call):
        first = first.func.value
    if imports.qualified(dotted(first.func)) in ("torch.tensor", "torch.as_tensor", "torch.scalar_tensor"):
        given = first.args[0].value if first.args else None
        if isinstance(given, cst.BinaryOperation):
            given = given.left
        if not isinstance(given, (cst.List, cst.ListComp)):
            return False
    return makes_tensor(node, imports)


def _brought_to_cpu(node: cst.BaseExpression | None) -> str:
    """``x``, of ``x.cpu()`` and ``x.detach().cpu()``; empty for anything else."""
    brought = False
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in rows.PASSING:
        brought = brought or node.func.attr.value == "cpu"
        node = node.func.value
    return node.value if brought and isinstance(node, cst.Name) else ""


def _sized(call: cst.Call, found: Found) -> None:
    for argument in call.args:
        if not argument.star and (argument.keyword is None or argument.keyword.value not in rows.NO_SIZES):
            for name in names_of(argument.value):
                found.note_parameter(name, rows.SIZE)


def _reshaped(call: cst.Call, receiver: cst.BaseExpression, found: Found) -> None:
    """``x.view(batch, heads, -1)``: one of several arguments is a size; one alone may be a dtype, or all sizes."""
    first = (dotted(receiver) or "").partition(".")[0]
    if first in ("self", "cls", "super") or first in found.imports or len(call.args) < 2:
        return
    for argument in call.args:
        if type(argument.value) is cst.Name and not argument.star and argument.keyword is None:
            found.note_parameter(argument.value.value, rows.SIZE)


def _written(call: cst.Call, found: Found) -> None:
    """``Path(image)``, ``re.sub("a", "b", x)``: a text, a path, or an image that was read."""
    for argument in call.args:
        if type(argument.value) is cst.Name:
            found.note_parameter(argument.value.value, rows.NO_TENSOR)


def _named_by_texts(call: cst.Call, name: str, found: Found) -> None:
    """``getattr(nn, activation)``, ``AutoModel.from_pretrained(name)``: a text says what is looked for."""
    position = rows.TAKES_A_TEXT.get(name)
    if position is None and type(call.func) is cst.Attribute:
        position = rows.TAKES_A_TEXT.get(f".{call.func.attr.value}")
    if position is None or len(call.args) <= position:
        return
    argument = call.args[position]
    if type(argument.value) is cst.Name and not argument.star and argument.keyword is None:
        found.note_text(argument.value.value)


def _handed_on(call: cst.Call, callee: str, found: Found) -> None:
    """Names that are, as they stand, arguments of what no table lists."""
    if not callee:
        return
    for position, argument in enumerate(call.args):
        if argument.star:
            return
        if type(argument.value) is cst.Name:
            keyword = argument.keyword.value if argument.keyword is not None else ""
            found.note_handed_on(argument.value.value, HandedOn(callee, position, keyword))


def _built(function: cst.BaseExpression, found: Found) -> str:
    """``().Layer``, of ``Layer()``, and of ``layer`` and ``layer.forward`` after ``layer = Layer()``; else empty."""
    if type(function) is cst.Attribute and function.attr.value == "forward":
        function = function.value
    name = found.objects.get(function.value, "") if type(function) is cst.Name else modules.class_made(function)
    return f"{BUILT}{name}" if name else ""


def _inherited(function: cst.BaseExpression) -> str:
    """``super().__init__``; empty for anything else."""
    if type(function) is cst.Attribute and type(function.value) is cst.Call and dotted(function.value.func) == "super":
        return f"{INHERITED}{function.attr.value}"
    return ""


def _sizes(call: cst.Call, found: Found) -> None:
    """``torch.zeros(x.shape[0])``: what is made in the size of a name is made to stand beside it."""
    for argument in call.args:
        if argument.star:
            continue
        parts = argument.value.elements if isinstance(argument.value, (cst.Tuple, cst.List)) else ()
        for part in [argument.value, *(element.value for element in parts)]:
            shape = part.value if isinstance(part, cst.Subscript) else part
            if isinstance(shape, cst.Attribute) and shape.attr.value == "shape" and isinstance(shape.value, cst.Name):
                found.note(shape.value.value, rows.by_convention(conventions.SIZES_A_CREATION))
