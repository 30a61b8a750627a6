"""The functions of a file, and the places of their parameters and results."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Place(NamedTuple):
    """A parameter, or with ``return`` for its name the result, of a function."""

    path: str
    qualname: str
    """``Class.method``; functions of functions follow theirs: ``outer.inner``."""
    name: str


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function, ast.ClassDef | None]]:
    """Every function with its qualified name and its class."""
    yield from _functions(tree, prefix, None)


def _functions(
    tree: ast.AST, prefix: str, owner: ast.ClassDef | None
) -> Iterator[tuple[str, Function, ast.ClassDef | None]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield prefix + node.name, node, owner
            yield from _functions(node, f"{prefix}{node.name}.", None)
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.", node)
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _functions(node, prefix, owner)


def parameters(node: Function, owner: ast.ClassDef | None) -> list[ast.arg]:
    """Without ``self`` and ``cls``, ``*args`` and ``**kwargs``."""
    found = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
    positional = bool(node.args.posonlyargs or node.args.args)
    return found[1:] if owner is not None and not static and positional else found
