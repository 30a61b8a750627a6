"""Files in which a checker is made to say what each parameter and each returned value is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from typed.annotation import IsModule, Kind, kind_of_text
from typed.definitions import Function, Place, functions, parameters

Spot = tuple[str, int]
"""A path and a line; after ``ast.unparse`` there is one statement on a line."""


def revealing(path: str, text: str) -> tuple[str, dict[Spot, Place]]:
    """The text with ``reveal_type`` at the start of each body and around each returned value, and what is where."""
    tree = ast.parse(text)
    for _, node, owner in functions(tree):
        reveals: list[ast.stmt] = [ast.Expr(_reveal(ast.Name(a.arg, ast.Load()))) for a in parameters(node, owner)]
        if not _is_generator(node):
            for statement in _returns(node):
                if statement.value is not None:
                    statement.value = _reveal(statement.value)
        first = 1 if ast.get_docstring(node, clean=False) is not None else 0
        node.body = [*node.body[:first], *reveals, *node.body[first:]]
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    spots: dict[Spot, Place] = {}
    for qualname, node, owner in functions(ast.parse(text)):
        names = [a.arg for a in parameters(node, owner)]
        first = 1 if ast.get_docstring(node, clean=False) is not None else 0
        for name, statement in zip(names, node.body[first:], strict=False):
            spots[path, statement.lineno] = Place(path, qualname, name)
        if not _is_generator(node):
            for returned in _returns(node):
                spots[path, returned.lineno] = Place(path, qualname, "return")
    return text, spots


def _reveal(value: ast.expr) -> ast.Call:
    return ast.Call(ast.Name("reveal_type", ast.Load()), [value], [])


def _own(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Function | ast.ClassDef | ast.Lambda):
            yield child
            yield from _own(child)


def _returns(node: Function) -> list[ast.Return]:
    return [
        n
        for statement in node.body
        for n in (statement, *_own(statement))
        if isinstance(n, ast.Return) and not isinstance(statement, Function | ast.ClassDef)
    ]


def _is_generator(node: Function) -> bool:
    return any(isinstance(n, ast.Yield | ast.YieldFrom) for n in _own(node))


def claims(revealed: Iterator[tuple[Spot, str]], spots: Mapping[Spot, Place], is_module: IsModule) -> dict[Place, Kind]:
    """What was revealed, by place; a function's results are joined, as far as they are known."""
    found: dict[Place, set[Kind]] = {}
    for spot, text in revealed:
        place = spots.get(spot)
        kind = kind_of_text(without_unknown(text), is_module) if place is not None else None
        if place is not None and kind is not None:
            found.setdefault(place, set()).add(kind)
    return {place: kinds.pop() for place, kinds in found.items() if len(kinds) == 1}


def without_unknown(text: str) -> str:
    """``int`` for ``Unknown | int``: what is known counts as claimed."""
    try:
        node: ast.expr = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return text
    arms: list[ast.expr] = []
    while isinstance(node, ast.BinOp):
        arms.append(node.right)
        node = node.left
    arms.append(node)
    known = [arm for arm in arms if ast.unparse(arm) not in ("Unknown", "Any", "Todo", "Divergent")]
    return " | ".join(ast.unparse(arm) for arm in reversed(known))
