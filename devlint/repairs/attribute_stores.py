"""Which other statements of a class store an attribute, as :mod:`ast` has them.

Only :mod:`ast` has the whole class: LibCST parses no method that nothing else needs.
"""

from __future__ import annotations

import ast
import re

from devlint.source.python_parser import parse

_LINE_END = re.compile(r"\r\n|\r|\n")


def stored_once(text: str, at: int, name: str) -> bool:
    """Whether the class around a place of the text gives its objects this attribute nowhere but there."""
    line = len(_LINE_END.findall(text, 0, at)) + 1
    try:
        tree = parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    around = [node for node in classes if node.lineno <= line <= (node.end_lineno or node.lineno)]
    return bool(around) and _stores_once(max(around, key=lambda node: node.lineno), name)


def _stores_once(owner: ast.ClassDef, name: str) -> bool:
    stores = 0
    for node in ast.walk(owner):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            return False
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr == name:
            stores += 1
    bound = (target for statement in owner.body for target in _targets(statement))
    return stores == 1 and not any(isinstance(target, ast.Name) and target.id == name for target in bound)


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, (ast.AnnAssign, ast.AugAssign)) else []
