"""The text of a node that has no layout of its own, formatted as a code formatter would.

It is used where texts are compared: as the key of a condition, of an item, of a callee. Findings quote the source
instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from devlint.placement.syntax.operators import AUGMENTED, BINARY, COMPARISON
from devlint.source.bare.nodes import NeedsLayout

_OPERATORS: dict[type, str] = BINARY | COMPARISON | {
    cst.And: "and", cst.Or: "or", cst.Not: "not ", cst.Plus: "+", cst.Minus: "-", cst.BitInvert: "~",
}  # fmt: skip

_PRECEDENCE: dict[type, int] = {
    cst.Or: 1, cst.And: 2, cst.Not: 3, cst.BitOr: 5, cst.BitXor: 6, cst.BitAnd: 7, cst.LeftShift: 8, cst.RightShift: 8,
    cst.Add: 9, cst.Subtract: 9, cst.Multiply: 10, cst.Divide: 10, cst.FloorDivide: 10, cst.Modulo: 10,
    cst.MatrixMultiply: 10, cst.Plus: 11, cst.Minus: 11, cst.BitInvert: 11, cst.Power: 12,
}  # fmt: skip
_COMPARISON = 4
_AWAIT = 13
_ATOM = 14
_LOOSE = 0


def rendered(node: Any) -> str:
    """The text of a bare expression or a simple statement; raises :class:`NeedsLayout` for anything else."""
    render = _RENDERERS.get(type(node))
    if render is None:
        raise NeedsLayout(type(node).__name__)
    return render(node)


def _precedence(node: Any) -> int:
    """The precedence of an expression: higher binds tighter."""
    kind = type(node)
    if kind in (cst.BinaryOperation, cst.BooleanOperation, cst.UnaryOperation):
        return _PRECEDENCE[type(node.operator)]
    if kind is cst.Comparison:
        return _COMPARISON
    if kind is cst.Await:
        return _AWAIT
    return _LOOSE if kind in (cst.IfExp, cst.Lambda, cst.NamedExpr, cst.Yield, cst.GeneratorExp) else _ATOM


def _operand(node: Any, least: int) -> str:
    """The text, in parentheses if the expression binds less tightly than ``least``."""
    text = rendered(node)
    bracketed = type(node) in (cst.Tuple, cst.GeneratorExp)
    return f"({text})" if _precedence(node) < least and not bracketed else text


def _operation(node: Any) -> str:
    own = _precedence(node)
    left, right = own, own + 1
    if type(node.operator) is cst.Power:
        # ``**`` is right-associative, and its right operand may have a sign.
        left, right = own + 1, _PRECEDENCE[cst.Minus]
    return f"{_operand(node.left, left)} {_OPERATORS[type(node.operator)]} {_operand(node.right, right)}"


def _comparison(node: Any) -> str:
    parts = [_operand(node.left, _COMPARISON + 1)]
    for target in node.comparisons:
        parts += [_OPERATORS[type(target.operator)], _operand(target.comparator, _COMPARISON + 1)]
    return " ".join(parts)


def _call(node: Any) -> str:
    alone = len(node.args) == 1 and type(node.args[0].value) is cst.GeneratorExp
    given = rendered(node.args[0].value)[1:-1] if alone else ", ".join(_argument(one) for one in node.args)
    return f"{_operand(node.func, _ATOM)}({given})"


def _argument(node: Any) -> str:
    name = f"{node.keyword.value}=" if node.keyword is not None else node.star
    return name + rendered(node.value)


def _slice(node: Any) -> str:
    if isinstance(node, cst.Index):
        return rendered(node.value)
    lower, upper, step = ("" if part is None else rendered(part) for part in (node.lower, node.upper, node.step))
    return f"{lower}:{upper}" + (f":{step}" if step else "")


def _elements(node: Any) -> str:
    return ", ".join(rendered(one) for one in node.elements)


def _tuple(node: Any) -> str:
    return f"({_elements(node)}{',' * (len(node.elements) == 1)})"


def _pair(node: Any) -> str:
    if isinstance(node, cst.StarredDictElement):
        return f"**{rendered(node.value)}"
    return f"{rendered(node.key)}: {rendered(node.value)}"


def _loops(node: Any) -> str:
    target = node.target
    targets = _elements(target) if type(target) is cst.Tuple and len(target.elements) > 1 else rendered(target)
    found = f" for {targets} in {_operand(node.iter, 1)}"
    found += "".join(f" if {_operand(one.test, 1)}" for one in node.ifs)
    return found + (_loops(node.inner_for_in) if node.inner_for_in is not None else "")


def _parameter(node: Any) -> str:
    default = f"={rendered(node.default)}" if node.default is not None else ""
    return f"{node.star}{node.name.value}{default}"


def _lambda(node: Any) -> str:
    params = node.params
    listed = [*params.posonly_params, *params.params]
    if isinstance(params.star_arg, cst.Param):
        listed.append(params.star_arg)
    listed += [*params.kwonly_params, *([params.star_kwarg] if params.star_kwarg is not None else [])]
    names = ", ".join(_parameter(one) for one in listed)
    return f"lambda{' ' * bool(names)}{names}: {rendered(node.body)}"


def _formatted(node: Any) -> str:
    return 'f"' + "".join(_formatted_part(part) for part in node.parts) + '"'


def _formatted_part(node: Any) -> str:
    if isinstance(node, cst.FormattedStringText):
        return node.value
    conversion = f"!{node.conversion}" if node.conversion else ""
    spec = f":{''.join(_formatted_part(part) for part in node.format_spec)}" if node.format_spec is not None else ""
    return f"{{{rendered(node.expression)}{conversion}{spec}}}"


def _awaited(node: Any) -> str:
    return f"await {_operand(node.expression, _ATOM)}"


def _yielded(node: Any) -> str:
    if isinstance(node.value, cst.From):
        return f"yield from {rendered(node.value.item)}"
    return "yield" if node.value is None else f"yield {rendered(node.value)}"


def _assignment(node: Any) -> str:
    return "".join(f"{rendered(one.target)} = " for one in node.targets) + rendered(node.value)


def _annotated(node: Any) -> str:
    value = f" = {rendered(node.value)}" if node.value is not None else ""
    return f"{rendered(node.target)}: {rendered(node.annotation.annotation)}{value}"


def _augmented(node: Any) -> str:
    return f"{rendered(node.target)} {AUGMENTED[type(node.operator)]} {rendered(node.value)}"


_RENDERERS: dict[type, Callable[[Any], str]] = {
    cst.Name: lambda node: node.value,
    cst.Integer: lambda node: node.value,
    cst.Float: lambda node: node.value,
    cst.Imaginary: lambda node: node.value,
    cst.SimpleString: lambda node: node.value,
    cst.Ellipsis: lambda node: "...",
    cst.Attribute: lambda node: f"{_operand(node.value, _ATOM)}.{node.attr.value}",
    cst.Call: _call,
    cst.Subscript: lambda node: f"{_operand(node.value, _ATOM)}[{', '.join(_slice(one.slice) for one in node.slice)}]",
    cst.BinaryOperation: _operation,
    cst.BooleanOperation: _operation,
    cst.UnaryOperation: lambda node: f"{_OPERATORS[type(node.operator)]}{_operand(node.expression, _precedence(node))}",
    cst.Comparison: _comparison,
    cst.IfExp: lambda node: f"{_operand(node.body, 1)} if {_operand(node.test, 1)} else {rendered(node.orelse)}",
    cst.Tuple: _tuple,
    cst.List: lambda node: f"[{_elements(node)}]",
    cst.Set: lambda node: f"{{{_elements(node)}}}",
    cst.Dict: lambda node: f"{{{', '.join(_pair(one) for one in node.elements)}}}",
    cst.Element: lambda node: rendered(node.value),
    cst.StarredElement: lambda node: f"*{rendered(node.value)}",
    cst.NamedExpr: lambda node: f"({rendered(node.target)} := {rendered(node.value)})",
    cst.Lambda: _lambda,
    cst.Await: _awaited,
    cst.Yield: _yielded,
    cst.FormattedString: _formatted,
    cst.Arg: _argument,
    cst.Param: _parameter,
    cst.Annotation: lambda node: rendered(node.annotation),
    cst.Index: _slice,
    cst.Slice: _slice,
    cst.SubscriptElement: lambda node: _slice(node.slice),
    cst.AssignTarget: lambda node: rendered(node.target),
    cst.Assign: _assignment,
    cst.AnnAssign: _annotated,
    cst.AugAssign: _augmented,
    cst.Expr: lambda node: rendered(node.value),
    cst.Return: lambda node: "return" if node.value is None else f"return {rendered(node.value)}",
    cst.GeneratorExp: lambda node: f"({rendered(node.elt)}{_loops(node.for_in)})",
    cst.ListComp: lambda node: f"[{rendered(node.elt)}{_loops(node.for_in)}]",
    cst.SetComp: lambda node: f"{{{rendered(node.elt)}{_loops(node.for_in)}}}",
    cst.DictComp: lambda node: f"{{{rendered(node.key)}: {rendered(node.value)}{_loops(node.for_in)}}}",
}
