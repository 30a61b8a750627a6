"""Statements, by their type in :mod:`ast`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import libcst as cst

from devlint.source.bare.expressions import annotation, arguments, expression, optional, origin, parameters, tuple_of
from devlint.source.bare.nodes import NeedsLayout, dotted, integer, maker, name, optional_name
from devlint.source.bare.patterns import pattern
from devlint.source.outline import Function, first_line

_module = maker(cst.Module, "body")
_block = maker(cst.IndentedBlock, "body")
_line = maker(cst.SimpleStatementLine, "body")
_function = maker(cst.FunctionDef, "name", "params", "body", "decorators", "returns", "type_parameters")
_class = maker(cst.ClassDef, "name", "body", "bases", "keywords", "decorators", "type_parameters")
_decorator = maker(cst.Decorator, "decorator")
_expr = maker(cst.Expr, "value")
_assign = maker(cst.Assign, "targets", "value")
_assign_target = maker(cst.AssignTarget, "target")
_ann_assign = maker(cst.AnnAssign, "target", "annotation", "value")
_aug_assign = maker(cst.AugAssign, "target", "operator", "value")
_return = maker(cst.Return, "value")
_raise = maker(cst.Raise, "exc", "cause")
_assert = maker(cst.Assert, "test", "msg")
_del = maker(cst.Del, "target")
_pass = maker(cst.Pass)
_break = maker(cst.Break)
_continue = maker(cst.Continue)
_global = maker(cst.Global, "names")
_nonlocal = maker(cst.Nonlocal, "names")
_name_item = maker(cst.NameItem, "name")
_import = maker(cst.Import, "names")
_import_from = maker(cst.ImportFrom, "module", "names", "relative")
_import_alias = maker(cst.ImportAlias, "name", "asname")
_import_star = maker(cst.ImportStar)
_as_name = maker(cst.AsName, "name")
_dot = maker(cst.Dot)()
_if = maker(cst.If, "test", "body", "orelse")
_else = maker(cst.Else, "body")
_for = maker(cst.For, "target", "iter", "body", "orelse")
_while = maker(cst.While, "test", "body", "orelse")
_with = maker(cst.With, "items", "body")
_with_item = maker(cst.WithItem, "item", "asname")
_try = maker(cst.Try, "body", "handlers", "orelse", "finalbody")
_try_star = maker(cst.TryStar, "body", "handlers", "orelse", "finalbody")
_handler = maker(cst.ExceptHandler, "body", "type", "name")
_star_handler = maker(cst.ExceptStarHandler, "body", "type", "name")
_finally = maker(cst.Finally, "body")
_match = maker(cst.Match, "subject", "cases")
_match_case = maker(cst.MatchCase, "pattern", "body", "guard")

_NODES_OF_ASSIGNING: dict[type, Any] = {
    ast.Add: cst.AddAssign, ast.Sub: cst.SubtractAssign, ast.Mult: cst.MultiplyAssign, ast.Div: cst.DivideAssign,
    ast.Mod: cst.ModuloAssign, ast.FloorDiv: cst.FloorDivideAssign, ast.Pow: cst.PowerAssign,
    ast.MatMult: cst.MatrixMultiplyAssign, ast.LShift: cst.LeftShiftAssign, ast.RShift: cst.RightShiftAssign,
    ast.BitAnd: cst.BitAndAssign, ast.BitOr: cst.BitOrAssign, ast.BitXor: cst.BitXorAssign,
}  # fmt: skip
_ASSIGNING: dict[type, cst.CSTNode] = {kind: maker(cls)() for kind, cls in _NODES_OF_ASSIGNING.items()}


class Numbers:
    """The definitions whose bodies are numbers instead."""

    def __init__(self, by_line: Mapping[int, int], met: dict[int, Function]) -> None:
        self._by_line = by_line
        self._met = met

    def of(self, node: Function) -> int | None:
        """The number that stands for this one's body; None if it is read."""
        number = self._by_line.get(first_line(node))
        if number is not None:
            self._met[number] = node
        return number


_NOBODY = Numbers({}, {})


def module(body: Sequence[ast.stmt], by_line: Mapping[int, int], met: dict[int, Function]) -> cst.Module:
    """A module. The definitions that begin at a line of ``by_line`` have the number there as a body, none is read.

    They are put into ``met`` by their numbers.
    """
    numbers = Numbers(by_line, met)
    return _module([_statement(node, numbers) for node in body])


def definition(node: Function) -> cst.FunctionDef:
    """One definition in full."""
    return _defined(node, _NOBODY)


def _statement(node: ast.AST, numbers: Numbers) -> cst.CSTNode:
    simple = _SIMPLE.get(type(node))
    if simple is not None:
        return _line([simple(node)])
    compound = _COMPOUND.get(type(node))
    if compound is None:
        raise NeedsLayout(type(node).__name__)
    return compound(node, numbers)


def _suite(body: Sequence[ast.stmt], numbers: Numbers) -> cst.IndentedBlock:
    return _block([_statement(node, numbers) for node in body])


def _otherwise(body: Sequence[ast.stmt], numbers: Numbers) -> cst.Else | None:
    return _else(_suite(body, numbers)) if body else None


def _defined(node: Function, numbers: Numbers) -> cst.FunctionDef:
    number = numbers.of(node)
    body = _suite(node.body, numbers) if number is None else _block([_line([_expr(integer(str(number)))])])
    decorators = _decorators(node.decorator_list)
    return _function(name(node.name), parameters(node.args), body, decorators, annotation(node.returns), None)


def _defined_class(node: ast.ClassDef, numbers: Numbers) -> cst.ClassDef:
    bases, keywords = arguments(node.bases, []), arguments([], node.keywords)
    decorators = _decorators(node.decorator_list)
    return _class(name(node.name), _suite(node.body, numbers), bases, keywords, decorators, None)


def _decorators(nodes: Sequence[ast.expr]) -> list[cst.Decorator]:
    return [_decorator(expression(node)) for node in nodes]


def _conditional(node: ast.If, numbers: Numbers) -> cst.If:
    orelse: cst.If | cst.Else | None
    inner = node.orelse
    # An elif begins where its if does, an if inside of else is indented.
    if len(inner) == 1 and isinstance(inner[0], ast.If) and inner[0].col_offset == node.col_offset:
        orelse = _conditional(inner[0], numbers)
    else:
        orelse = _otherwise(inner, numbers)
    return _if(expression(node.test), _suite(node.body, numbers), orelse)


def _loop(node: ast.For | ast.AsyncFor, numbers: Numbers) -> cst.For:
    body = _suite(node.body, numbers)
    return _for(expression(node.target), expression(node.iter), body, _otherwise(node.orelse, numbers))


def _entered(node: ast.With | ast.AsyncWith, numbers: Numbers) -> cst.With:
    items = [_with_item(expression(item.context_expr), _as(item.optional_vars)) for item in node.items]
    return _with(items, _suite(node.body, numbers))


def _as(target: ast.expr | None) -> cst.AsName | None:
    return None if target is None else _as_name(expression(target))


def _tried(node: Any, numbers: Numbers) -> cst.Try | cst.TryStar:
    plain = isinstance(node, ast.Try)
    make = _handler if plain else _star_handler
    handlers = [
        make(_suite(one.body, numbers), optional(one.type), None if one.name is None else _as_name(name(one.name)))
        for one in node.handlers
    ]
    orelse = _otherwise(node.orelse, numbers)
    final = _finally(_suite(node.finalbody, numbers)) if node.finalbody else None
    return (_try if plain else _try_star)(_suite(node.body, numbers), handlers, orelse, final)


def _matched(node: ast.Match, numbers: Numbers) -> cst.Match:
    cases = [
        _match_case(pattern(case.pattern), _suite(case.body, numbers), optional(case.guard)) for case in node.cases
    ]
    return _match(expression(node.subject), cases)


def _assigned(node: ast.Assign) -> cst.Assign:
    return _assign([_assign_target(expression(target)) for target in node.targets], expression(node.value))


def _deleted(node: ast.Delete) -> cst.Del:
    if len(node.targets) == 1:
        return _del(expression(node.targets[0]))
    return _del(tuple_of(node.targets))


def _aliases(names: Sequence[ast.alias]) -> list[cst.ImportAlias]:
    return [
        _import_alias(dotted(one.name), None if one.asname is None else _as_name(optional_name(one.asname)))
        for one in names
    ]


def _imported_from(node: ast.ImportFrom) -> cst.ImportFrom:
    names = _import_star() if node.names[0].name == "*" else _aliases(node.names)
    return _import_from(None if node.module is None else dotted(node.module), names, [_dot] * node.level)


_SIMPLE: dict[type, Callable[[Any], cst.CSTNode]] = {
    ast.Expr: lambda node: _expr(expression(node.value)),
    ast.Assign: _assigned,
    ast.AnnAssign: lambda node: _ann_assign(expression(node.target), annotation(node.annotation), optional(node.value)),
    ast.AugAssign: lambda node: _aug_assign(expression(node.target), _ASSIGNING[type(node.op)], expression(node.value)),
    ast.Return: lambda node: _return(optional(node.value)),
    ast.Raise: lambda node: _raise(optional(node.exc), origin(node.cause)),
    ast.Assert: lambda node: _assert(expression(node.test), optional(node.msg)),
    ast.Delete: _deleted,
    ast.Pass: lambda node: _pass(),
    ast.Break: lambda node: _break(),
    ast.Continue: lambda node: _continue(),
    ast.Global: lambda node: _global([_name_item(name(one)) for one in node.names]),
    ast.Nonlocal: lambda node: _nonlocal([_name_item(name(one)) for one in node.names]),
    ast.Import: lambda node: _import(_aliases(node.names)),
    ast.ImportFrom: _imported_from,
}

_COMPOUND: dict[type, Callable[[Any, Numbers], cst.CSTNode]] = {
    ast.FunctionDef: _defined,
    ast.AsyncFunctionDef: _defined,
    ast.ClassDef: _defined_class,
    ast.If: _conditional,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.While: lambda node, numbers: _while(
        expression(node.test), _suite(node.body, numbers), _otherwise(node.orelse, numbers)
    ),
    ast.With: _entered,
    ast.AsyncWith: _entered,
    ast.Try: _tried,
    ast.Match: _matched,
}
if hasattr(ast, "TryStar"):  # since Python 3.11
    _COMPOUND[ast.TryStar] = _tried
