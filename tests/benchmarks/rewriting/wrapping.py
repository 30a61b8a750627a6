"""What a function does is done by a function inside of it, which is called at once.

It takes the parameters that get another value, and sees the others. What stores attributes stays as it is: devlint
reads from methods what an object holds, not from functions inside of them.
"""

from __future__ import annotations

import ast

from tests.benchmarks.rewriting.program import (
    Program,
    Rewritten,
    after_docstring,
    definitions,
    is_pausing,
    names_in,
    parameters,
    scope_of,
)

_SEE_THEIR_FUNCTION = frozenset("locals vars eval exec super __class__".split())
INNER = "_inner_part"


def in_functions(program: Program) -> Rewritten | None:
    """Each function that is no generator and looks at nothing but names."""
    tree = ast.parse(program.text)
    scopes = {}
    for function, owner in definitions(tree):
        at = after_docstring(function)
        body = function.body[at:]
        if not body or is_pausing(function) or _stores_attributes(body):
            continue
        if names_in(body) & _SEE_THEIR_FUNCTION or _binds_elsewhere(body):
            continue
        stored = {
            node.id
            for one in body
            for node in ast.walk(one)
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        }
        taken = [one for one in parameters(function) if one.arg in stored]
        arguments = [ast.arg(one.arg, _inside(function, one)) for one in taken]
        head = ast.arguments([], arguments, None, [], [], None, [])
        call = ast.parse(f"return {INNER}({', '.join(one.arg for one in taken)})").body[0]
        function.body[at:] = [ast.FunctionDef(INNER, head, body, [], function.returns), call]
        scope = scope_of(function, owner)
        scopes[f"{scope}.{INNER}"] = scope
    return Rewritten(ast.unparse(ast.fix_missing_locations(tree)) + "\n", scopes=scopes) if scopes else None


def _inside(function: ast.FunctionDef | ast.AsyncFunctionDef, one: ast.arg) -> ast.expr | None:
    """The annotation of a parameter; that of ``*args`` speaks of each of them."""
    return None if one in (function.args.vararg, function.args.kwarg) else one.annotation


def _stores_attributes(body: list[ast.stmt]) -> bool:
    inside = (inner for one in body for inner in ast.walk(one))
    return any(isinstance(inner, ast.Attribute) and not isinstance(inner.ctx, ast.Load) for inner in inside)


def _binds_elsewhere(body: list[ast.stmt]) -> bool:
    """Names of the module or of the function around; imports and functions that take a parameter's name."""
    said = (ast.Nonlocal, ast.Global, ast.Import, ast.ImportFrom, ast.ClassDef, ast.Match)
    return any(isinstance(inner, said) for one in body for inner in ast.walk(one))
