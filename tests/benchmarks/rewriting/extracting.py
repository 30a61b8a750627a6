"""A run of statements of a function becomes a private function of the same file.

It takes what it reads, and gives what is read after it; of a method it becomes a method, if it reads ``self``.
Parameters keep the annotations that they had.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

from tests.benchmarks.rewriting.program import (
    SCOPES,
    Function,
    Program,
    Rewritten,
    after_docstring,
    asks_for_its_scope,
    definitions,
    is_pausing,
    parameters,
    scope_of,
)

_LEAVES = (ast.Return, ast.Match, ast.NamedExpr)
"""What ends the function as well, or binds names by a grammar of its own."""


def extracted(program: Program) -> Rewritten | None:
    """One run of statements of each function that has one."""
    tree = ast.parse(program.text)
    scopes: dict[str, str] = {}
    for function, owner in list(definitions(tree)):
        body = tree.body if owner is None else owner.body
        cut = _cut(function, owner)
        if cut is None:
            continue
        helper, of_class = cut
        scope = scope_of(function, owner)
        scopes[f"{owner.name}.{helper.name}" if owner is not None and of_class else helper.name] = scope
        if owner is None or of_class:
            body.insert(body.index(function) + 1, helper)
        else:
            tree.body.insert(tree.body.index(owner) + 1, helper)
    return Rewritten(ast.unparse(ast.fix_missing_locations(tree)) + "\n", scopes=scopes) if scopes else None


def _cut(function: Function, owner: ast.ClassDef | None) -> tuple[ast.FunctionDef, bool] | None:
    """Take a run out of the function: its helper, and whether it is a method. None where there is nothing to take."""
    if is_pausing(function):
        return None
    scope = scope_of(function, owner)
    draw = random.Random(scope)
    start = after_docstring(function)
    runs = [
        (first, last) for first in range(start, len(function.body)) for last in range(first + 1, len(function.body) + 1)
    ]
    draw.shuffle(runs)
    for first, last in runs:
        around = function.body[:first], function.body[first:last], function.body[last:]
        if len(around[1]) == len(function.body) - start or not _may_leave(*around):
            continue
        known = _bound_before(function, around[0])
        passed = _passed(known, *around)
        if passed is None:
            continue
        takes, gives = passed
        of_class = owner is not None and "self" in takes and parameters(function)[0].arg == "self"
        if not of_class and any(name.startswith("__") for name in _attributes(around[1])):
            continue
        takes.sort(key=lambda name: (name != "self", name))
        name = f"_part_of_{scope.replace('.', '_')}"
        function.body[first:last] = [_call(f"self.{name}" if of_class else name, takes[of_class:], gives)]
        return _helper(name, takes, gives, around[1], function), of_class
    return None


def _may_leave(before: list[ast.stmt], run: list[ast.stmt], after: list[ast.stmt]) -> bool:
    inside = [node for one in run for node in ast.walk(one)]
    if asks_for_its_scope(run) or any(isinstance(node, (*_LEAVES, *SCOPES, ast.GeneratorExp)) for node in inside):
        return False
    if all(isinstance(one, (ast.Pass, ast.Raise, ast.Assert)) for one in run) or _jumps_out(run):
        return False
    elsewhere = [node for one in (*before, *after) for node in ast.walk(one)]
    declared = {name for node in elsewhere if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    # A function that was made before would still see the variable of the function that it was made in.
    closures = [node for one in before for node in ast.walk(one) if isinstance(node, (*SCOPES, ast.GeneratorExp))]
    seen = {inner.id for node in closures for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return not set(_stored(run)) & (seen | declared)


def _jumps_out(run: list[ast.stmt]) -> bool:
    """Whether a ``break`` or ``continue`` belongs to a loop around."""

    def jumps(node: ast.AST) -> bool:
        if isinstance(node, (ast.Break, ast.Continue)):
            return True
        if isinstance(node, (ast.For, ast.While)):
            return any(map(jumps, node.orelse))
        return any(map(jumps, ast.iter_child_nodes(node)))

    return any(map(jumps, run))


def _passed(
    known: tuple[set[str], set[str]], before: list[ast.stmt], run: list[ast.stmt], after: list[ast.stmt]
) -> tuple[list[str], list[str]] | None:
    """What the helper takes and gives. None where a name has no value for certain that would have to have one."""
    surely, perhaps = known
    stored, local = set(_stored(run)), perhaps | set(_stored([*run, *after]))
    if _of_comprehensions(run) & local:
        return None
    gives = sorted(stored & set(_loaded(after)))
    bound_in_run = _surely_bound(run)
    takes = {name for name in _read_first(run) if name in local}
    takes |= {name for name in gives if name not in bound_in_run}
    if takes - stored - surely or (takes & perhaps) - surely:
        return None
    takes &= surely
    if any(name not in bound_in_run and name not in takes for name in gives):
        return None
    return list(takes), gives


def _helper(name: str, takes: list[str], gives: list[str], run: list[ast.stmt], function: Function) -> ast.FunctionDef:
    declared = {one.arg: one.annotation for one in _plain_parameters(function)}
    again = set(_stored(function.body))
    arguments = [ast.arg(one, None if one in again else declared.get(one)) for one in takes]
    values: list[ast.expr] = [ast.Name(one, ast.Load()) for one in gives]
    given = values[0] if len(values) == 1 else ast.Tuple(values, ast.Load())
    body = [*run, *([ast.Return(given)] if gives else [])]
    return ast.FunctionDef(name, ast.arguments([], arguments, None, [], [], None, []), body, [])


def _plain_parameters(function: Function) -> list[ast.arg]:
    """Those whose annotation is that of the variable: ``*args: int`` is a tuple."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _call(name: str, takes: list[str], gives: list[str]) -> ast.stmt:
    call = f"{name}({', '.join(takes)})"
    return ast.parse(f"{', '.join(gives)} = {call}" if gives else call).body[0]


# -- names: which are bound and read where ---------------------------------------------------------------------------


def _bound_before(function: Function, before: list[ast.stmt]) -> tuple[set[str], set[str]]:
    """Names with a value for certain when the run begins, and those that may have one."""
    given = {one.arg for one in parameters(function)}
    return given | _surely_bound(before), given | set(_stored(before))


def _stored(nodes: list[ast.stmt]) -> Iterator[str]:
    """Names of the function that are bound in these statements; those of a comprehension are its own."""
    for node in nodes:
        for inner in _of_the_function(node):
            match inner:
                case ast.Name(ctx=ast.Store() | ast.Del()):
                    yield inner.id
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.ExceptHandler(name=str()):
                    yield str(inner.name)
                case ast.alias():
                    yield (inner.asname or inner.name).split(".")[0]


def _of_the_function(node: ast.AST) -> Iterator[ast.AST]:
    """The node with all inside of it, but for what scopes of their own bind."""
    yield node
    if isinstance(node, SCOPES):
        return
    if isinstance(node, ast.comprehension):
        yield from _of_the_function(node.iter)
        return
    for inner in ast.iter_child_nodes(node):
        yield from _of_the_function(inner)


def _loaded(nodes: list[ast.stmt]) -> Iterator[str]:
    """Names that are read somewhere, in scopes inside as well."""
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Store):
                yield inner.id
            elif isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
                yield inner.target.id


def _attributes(nodes: list[ast.stmt]) -> Iterator[str]:
    return (inner.attr for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Attribute))


def _read_first(run: list[ast.stmt]) -> set[str]:
    """Names that a run may read before it has bound them."""
    bound = _of_comprehensions(run)
    found: set[str] = set()
    for one in run:
        found |= set(_loaded([one])) - bound
        bound |= _surely_bound([one])
    return found


def _of_comprehensions(nodes: list[ast.stmt]) -> set[str]:
    """Names that comprehensions bind for themselves."""
    targets = [inner.target for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.comprehension)]
    return {inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)}


def _surely_bound(nodes: list[ast.stmt]) -> set[str]:
    """Names that have a value once all these statements have come to their end."""
    bound: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.AugAssign() | ast.Import() | ast.ImportFrom():
                bound |= set(_stored([node]))
            case ast.FunctionDef() | ast.ClassDef():
                bound.add(node.name)
            case ast.With():
                bound |= {
                    inner.id
                    for item in node.items
                    if item.optional_vars is not None
                    for inner in ast.walk(item.optional_vars)
                    if isinstance(inner, ast.Name)
                }
                # A context may swallow an error, and go on behind its block.
                bound |= _surely_bound(node.body) if _is_torchs(node) else set()
            case ast.If(orelse=[]) if _ends(node.body):
                pass
            case ast.If():
                arms = [_surely_bound(arm) for arm in (node.body, node.orelse) if not _ends(arm)]
                bound |= set.intersection(*arms) if arms else set()
    return bound


def _is_torchs(node: ast.With) -> bool:
    return all(ast.unparse(item.context_expr).startswith("torch.") for item in node.items)


def _ends(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Break, ast.Continue))
