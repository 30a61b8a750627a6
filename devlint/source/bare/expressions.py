"""Expressions, by their type in :mod:`ast`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from devlint.source.bare.nodes import NeedsLayout, attribute, integer, maker, name, optional_name, string

_float = maker(cst.Float, "value")
_imaginary = maker(cst.Imaginary, "value")
_ellipsis = maker(cst.Ellipsis)
_call = maker(cst.Call, "func", "args")
_argument = maker(cst.Arg, "value", "keyword", "star")
_subscript = maker(cst.Subscript, "value", "slice")
_subscript_element = maker(cst.SubscriptElement, "slice")
_index = maker(cst.Index, "value")
_slice = maker(cst.Slice, "lower", "upper", "step")
_tuple = maker(cst.Tuple, "elements")
_list = maker(cst.List, "elements")
_set = maker(cst.Set, "elements")
_dict = maker(cst.Dict, "elements")
_element = maker(cst.Element, "value")
_starred = maker(cst.StarredElement, "value")
_dict_element = maker(cst.DictElement, "key", "value")
_starred_dict = maker(cst.StarredDictElement, "value")
_unary = maker(cst.UnaryOperation, "operator", "expression")
_binary = maker(cst.BinaryOperation, "left", "operator", "right")
_boolean = maker(cst.BooleanOperation, "left", "operator", "right")
_comparison = maker(cst.Comparison, "left", "comparisons")
_comparison_target = maker(cst.ComparisonTarget, "operator", "comparator")
_conditional = maker(cst.IfExp, "test", "body", "orelse")
_named = maker(cst.NamedExpr, "target", "value")
_lambda = maker(cst.Lambda, "params", "body")
_await = maker(cst.Await, "expression")
_yield = maker(cst.Yield, "value")
_from = maker(cst.From, "item")
_formatted = maker(cst.FormattedString, "parts")
_formatted_text = maker(cst.FormattedStringText, "value")
_formatted_expression = maker(cst.FormattedStringExpression, "expression", "conversion", "format_spec")
_generator = maker(cst.GeneratorExp, "elt", "for_in")
_list_comp = maker(cst.ListComp, "elt", "for_in")
_set_comp = maker(cst.SetComp, "elt", "for_in")
_dict_comp = maker(cst.DictComp, "key", "value", "for_in")
_comp_for = maker(cst.CompFor, "target", "iter", "ifs", "inner_for_in")
_comp_if = maker(cst.CompIf, "test")
_param = maker(cst.Param, "name", "annotation", "default", "star")
_param_star = maker(cst.ParamStar)()
_param_slash = maker(cst.ParamSlash)()
_parameters = maker(
    cst.Parameters, "params", "star_arg", "kwonly_params", "star_kwarg", "posonly_params", "posonly_ind"
)
_annotation = maker(cst.Annotation, "annotation")

_NODES_OF_OPERATORS: dict[type, Any] = {
    ast.Add: cst.Add, ast.Sub: cst.Subtract, ast.Mult: cst.Multiply, ast.Div: cst.Divide, ast.Mod: cst.Modulo,
    ast.FloorDiv: cst.FloorDivide, ast.Pow: cst.Power, ast.MatMult: cst.MatrixMultiply, ast.LShift: cst.LeftShift,
    ast.RShift: cst.RightShift, ast.BitAnd: cst.BitAnd, ast.BitOr: cst.BitOr, ast.BitXor: cst.BitXor,
    ast.And: cst.And, ast.Or: cst.Or, ast.Not: cst.Not, ast.UAdd: cst.Plus, ast.USub: cst.Minus,
    ast.Invert: cst.BitInvert, ast.Eq: cst.Equal, ast.Lt: cst.LessThan, ast.LtE: cst.LessThanEqual,
    ast.Gt: cst.GreaterThan, ast.GtE: cst.GreaterThanEqual, ast.Is: cst.Is, ast.IsNot: cst.IsNot, ast.In: cst.In,
    ast.NotIn: cst.NotIn,
}  # fmt: skip
_OPERATORS: dict[type, cst.CSTNode] = {kind: maker(cls)() for kind, cls in _NODES_OF_OPERATORS.items()}
# The one with two spellings.
_OPERATORS[ast.NotEq] = maker(cst.NotEqual, "value")("!=")


def expression(node: ast.AST) -> Any:
    """The bare node of an expression; raises :class:`NeedsLayout` for a kind that is not known here."""
    convert = _EXPRESSIONS.get(type(node))
    if convert is None:
        raise NeedsLayout(type(node).__name__)
    return convert(node)


def optional(node: ast.AST | None) -> Any:
    return None if node is None else expression(node)


def _constant(node: ast.Constant) -> cst.BaseExpression:
    value: Any = node.value
    kind = type(value)
    if kind is str:
        # As most people write it, who quote by formatters.
        plain = value.isprintable() and '"' not in value and "\\" not in value
        return string(f'"{value}"' if plain else repr(value))
    if kind is bytes:
        return string(repr(value))
    if kind is int:
        # Long ones are not written out: Python limits the digits of that.
        return integer(str(value) if -(2**64) < value < 2**64 else hex(value))
    if value is None or kind is bool:
        return name(str(value))
    if kind is float:
        return _float(repr(value))
    return _ellipsis() if value is ... else _imaginary(repr(value))


def arguments(given: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> list[cst.Arg]:
    """The arguments of a call, in the order of the source."""
    found = [
        _argument(expression(one.value), None, "*")
        if type(one) is ast.Starred
        else _argument(expression(one), None, "")
        for one in given
    ]
    for keyword in keywords:
        star = "**" if keyword.arg is None else ""
        found.append(_argument(expression(keyword.value), optional_name(keyword.arg), star))
    if keywords and any(type(one) is ast.Starred for one in given):
        # Only an unpacked argument may stand behind a keyword.
        placed: list[ast.expr | ast.keyword] = [*given, *keywords]
        order = sorted(range(len(found)), key=lambda i: _start(placed[i]))
        found = [found[i] for i in order]
    return found


def _start(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _subscripted(node: ast.Subscript) -> cst.Subscript:
    index = node.slice
    parts = index.elts if type(index) is ast.Tuple and index.elts and not _bracketed(index) else [index]
    return _subscript(expression(node.value), [_subscript_element(_one_index(part)) for part in parts])


def _bracketed(node: ast.Tuple) -> bool:
    """Whether parentheses stand around it."""
    first, last = node.elts[0], node.elts[-1]
    ends = (node.end_lineno, node.end_col_offset), (last.end_lineno, last.end_col_offset)
    return _start(node) < _start(first) and ends[0] != ends[1]


def _one_index(node: ast.expr) -> cst.BaseSlice:
    if type(node) is ast.Slice:
        return _slice(optional(node.lower), optional(node.upper), optional(node.step))
    return _index(expression(node.value if type(node) is ast.Starred else node))


def _elements(nodes: Sequence[ast.expr]) -> list[cst.BaseElement]:
    return [
        _starred(expression(node.value)) if type(node) is ast.Starred else _element(expression(node)) for node in nodes
    ]


def tuple_of(nodes: Sequence[ast.expr]) -> cst.Tuple:
    return _tuple(_elements(nodes))


def origin(node: ast.expr | None) -> cst.From | None:
    """What follows ``from``."""
    return None if node is None else _from(expression(node))


def _dictionary(node: ast.Dict) -> cst.Dict:
    return _dict(
        [
            _starred_dict(expression(value)) if key is None else _dict_element(expression(key), expression(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
    )


def _bool_op(node: ast.BoolOp) -> cst.BaseExpression:
    operator = _OPERATORS[type(node.op)]
    found: cst.BaseExpression = expression(node.values[0])
    for value in node.values[1:]:
        found = _boolean(found, operator, expression(value))
    return found


def _compare(node: ast.Compare) -> cst.Comparison:
    pairs = zip(node.ops, node.comparators, strict=True)
    targets = [_comparison_target(_OPERATORS[type(op)], expression(right)) for op, right in pairs]
    return _comparison(expression(node.left), targets)


def _joined(node: ast.JoinedStr) -> cst.FormattedString:
    return _formatted([_joined_part(part) for part in node.values])


def _joined_part(part: ast.expr) -> cst.CSTNode:
    if isinstance(part, ast.FormattedValue):
        conversion = None if part.conversion < 0 else chr(part.conversion)
        spec = None if part.format_spec is None else _joined(part.format_spec).parts  # type: ignore[arg-type]
        return _formatted_expression(expression(part.value), conversion, spec)
    return _formatted_text(part.value if isinstance(part, ast.Constant) else "")


def _comprehended(make: Callable[..., cst.BaseExpression]) -> Callable[[Any], cst.BaseExpression]:
    def convert(node: Any) -> cst.BaseExpression:
        return make(expression(node.elt), _loops(node.generators))

    return convert


def _loops(generators: list[ast.comprehension]) -> cst.CompFor:
    inner: cst.CompFor | None = None
    for one in reversed(generators):
        ifs = [_comp_if(expression(test)) for test in one.ifs]
        inner = _comp_for(expression(one.target), expression(one.iter), ifs, inner)
    if inner is None:
        raise NeedsLayout("a comprehension without a loop")
    return inner


def parameters(node: ast.arguments) -> cst.Parameters:
    """The parameters of a definition."""
    plain = [*node.posonlyargs, *node.args]
    defaults = [None] * (len(plain) - len(node.defaults)) + list(node.defaults)
    made = [_parameter(one, default, "") for one, default in zip(plain, defaults, strict=True)]
    only = [_parameter(one, default, "") for one, default in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
    star: cst.Param | cst.ParamStar | cst.MaybeSentinel = cst.MaybeSentinel.DEFAULT
    if node.vararg is not None:
        star = _parameter(node.vararg, None, "*")
    elif only:
        star = _param_star
    before = len(node.posonlyargs)
    return _parameters(
        made[before:],
        star,
        only,
        None if node.kwarg is None else _parameter(node.kwarg, None, "**"),
        made[:before],
        _param_slash if before else cst.MaybeSentinel.DEFAULT,
    )


def _parameter(node: ast.arg, default: ast.expr | None, star: str) -> cst.Param:
    return _param(name(node.arg), annotation(node.annotation), optional(default), star)


def annotation(node: ast.expr | None) -> cst.Annotation | None:
    return None if node is None else _annotation(expression(node))


_EXPRESSIONS: dict[type, Callable[[Any], cst.CSTNode]] = {
    ast.Name: lambda node: name(node.id),
    ast.Constant: _constant,
    ast.Attribute: lambda node: attribute(expression(node.value), name(node.attr)),
    ast.Call: lambda node: _call(expression(node.func), arguments(node.args, node.keywords)),
    ast.Subscript: _subscripted,
    ast.BinOp: lambda node: _binary(expression(node.left), _OPERATORS[type(node.op)], expression(node.right)),
    ast.BoolOp: _bool_op,
    ast.UnaryOp: lambda node: _unary(_OPERATORS[type(node.op)], expression(node.operand)),
    ast.Compare: _compare,
    ast.IfExp: lambda node: _conditional(expression(node.test), expression(node.body), expression(node.orelse)),
    ast.Tuple: lambda node: tuple_of(node.elts),
    ast.List: lambda node: _list(_elements(node.elts)),
    ast.Set: lambda node: _set(_elements(node.elts)),
    ast.Dict: _dictionary,
    ast.JoinedStr: _joined,
    ast.Starred: lambda node: _starred(expression(node.value)),
    ast.NamedExpr: lambda node: _named(expression(node.target), expression(node.value)),
    ast.Lambda: lambda node: _lambda(parameters(node.args), expression(node.body)),
    ast.Await: lambda node: _await(expression(node.value)),
    ast.Yield: lambda node: _yield(optional(node.value)),
    ast.YieldFrom: lambda node: _yield(origin(node.value)),
    ast.GeneratorExp: _comprehended(_generator),
    ast.ListComp: _comprehended(_list_comp),
    ast.SetComp: _comprehended(_set_comp),
    ast.DictComp: lambda node: _dict_comp(expression(node.key), expression(node.value), _loops(node.generators)),
}
