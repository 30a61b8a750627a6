"""What a method shows of what it is called by, by its name and by how it is called."""

from __future__ import annotations

import libcst as cst

from devlint import semantics
from devlint.placement.declarations import evidence_conventions as conventions
from devlint.placement.declarations import evidence_rows as rows
from devlint.placement.declarations.evidence_grades import Sign
from devlint.placement.declarations.evidence_literals import is_integer, is_text
from devlint.placement.syntax.nodes import code_of, dotted


def called_by(node: cst.BaseExpression) -> str:
    """What a method is called by: a name, or an item written like ``batch[key]``; through what passes a tensor on."""
    while True:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in rows.PASSING:
            node = node.func.value
        elif isinstance(node, cst.Attribute) and node.attr.value == "data":
            node = node.value
        else:
            return code_of(node) if isinstance(node, cst.Subscript) else dotted(node) or ""


def sign_of_method(call: cst.Call, function: cst.Attribute) -> Sign | None:
    """What a method shows by its name and by how it is called."""
    name = function.attr.value
    positional = [argument.value for argument in call.args if argument.keyword is None and not argument.star]
    given = {argument.keyword.value: argument.value for argument in call.args if argument.keyword is not None}
    if name in rows.TENSOR_METHODS or _changes_a_tensor(name):
        # `xp.sin(x)` and `F.softmax(x, dim=0)` are functions: a tensor's method would be told one thing too many.
        is_function = positional and (rows.takes_nothing(name) or rows.first_told(name) in given)
        return rows.NO_TENSOR if is_function else rows.TENSOR
    match name:
        case "size":
            # An array's `size` is a number; a process group's is called without an argument.
            return (
                rows.TENSOR
                if positional and is_integer(positional[0])
                else (rows.by_convention(conventions.SIZE_IS_CALLED) if not call.args else None)
            )
        case "t":
            # What translates texts is called so as well, with one.
            return rows.TENSOR if not call.args else None
        case "view":
            # That of an array takes a dtype.
            return rows.TENSOR if len(positional) > 1 or any(map(is_integer, positional)) else None
        case "to" if positional and dotted(positional[0]) in rows.INTEGERS:
            return rows.TENSOR
        case "type" if positional and (dotted(positional[0]) or "").startswith("torch."):
            return rows.by_convention(conventions.COMPUTES)
        case "backward":
            return rows.by_convention(conventions.IS_BACKPROPAGATED) if not call.args else None
        case "numpy" if not positional:
            passed_on = not isinstance(function.value, (cst.Name, cst.Subscript))
            return rows.TENSOR if passed_on else rows.by_convention(conventions.GIVES_AN_ARRAY)
        case _ if name in rows.REDUCTIONS:
            # xarray names its dimensions.
            told = (
                rows.NO_TENSOR if is_text(value) else rows.KEYWORDS[key]
                for key, value in given.items()
                if key in rows.KEYWORDS
            )
            return next(told, None)
        case _:
            return None


def _changes_a_tensor(method: str) -> bool:
    """``delta.uniform_()``: a tensor's method that changes it in place; ``requires_grad_`` is a Module's too."""
    return method.endswith("_") and method != "requires_grad_" and semantics.method(method) is not None
