"""What a function does is done by a function inside of it, which is called at once with the same arguments."""

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
    """Each function that is no generator, asks for no ``super()`` and is decorated by nothing."""
    tree = ast.parse(program.text)
    scopes = {}
    for function, owner in definitions(tree):
        at = after_docstring(function)
        body = function.body[at:]
        if not body or is_pausing(function) or names_in(body) & _SEE_THEIR_FUNCTION or _says_what_is_no_local(body):
            continue
        if owner is not None and any(_is_mangled(inner) for one in body for inner in ast.walk(one)):
            continue
        taken = parameters(function)
        arguments = ast.arguments(
            [], [ast.arg(one.arg, _inside(function, one)) for one in taken], None, [], [], None, []
        )
        inner = ast.FunctionDef(INNER, arguments, body, [], function.returns)
        call = ast.parse(f"return {INNER}({', '.join(one.arg for one in taken)})").body[0]
        function.body[at:] = [inner, call]
        scope = scope_of(function, owner)
        scopes[f"{scope}.{INNER}"] = scope
    return Rewritten(ast.unparse(ast.fix_missing_locations(tree)) + "\n", scopes=scopes) if scopes else None


def _inside(function: ast.FunctionDef | ast.AsyncFunctionDef, one: ast.arg) -> ast.expr | None:
    """The annotation of a parameter; that of ``*args`` speaks of each of them."""
    return None if one in (function.args.vararg, function.args.kwarg) else one.annotation


def _says_what_is_no_local(body: list[ast.stmt]) -> bool:
    return any(isinstance(inner, (ast.Nonlocal, ast.Global)) for one in body for inner in ast.walk(one))


def _is_mangled(node: ast.AST) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else ""
    return name.startswith("__") and not name.endswith("__")
