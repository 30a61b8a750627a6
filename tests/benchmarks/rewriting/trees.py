"""Rewritings of a syntax tree. Each returns None where the program leaves nothing to rewrite."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator

from tests.benchmarks.rewriting.program import SCOPES, Function, Program, Rewriting, Rewritten, after_docstring
from tests.benchmarks.rewriting.texts import blocks_of

_TELLING = (
    "device loader batch data model net module len size shape cpu cuda gpu host numpy np rank mesh cfg conf arg".split()
)
"""Parts of names by which conventions take a value for something: such a name says what it names."""


def aliased(tree: ast.Module) -> ast.Module | None:
    """``import torch`` under another name, and ``from torch import nn`` under another."""
    bound = Counter(_bound(tree))
    names = {
        alias.asname or alias.name: alias
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and node in tree.body
        for alias in node.names
        if alias.name != "*" and "." not in (alias.asname or alias.name) and _is_torchs(node, alias)
    }
    changed = {name: f"{name}_here" for name in names if bound[name] == 1}
    if not changed or "__all__" in bound:
        return None
    for name, new in changed.items():
        names[name].asname = new
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in changed:
            node.id = changed[node.id]
    return tree


def _is_torchs(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
    name = alias.name if isinstance(node, ast.Import) else node.module or ""
    return name.split(".")[0] == "torch" and not (isinstance(node, ast.ImportFrom) and node.level)


def _bound(tree: ast.AST) -> Iterator[str]:
    """Each name once for each time that something is bound to it."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(ctx=ast.Store() | ast.Del()):
                yield node.id
            case ast.arg():
                yield node.arg
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.alias():
                yield (node.asname or node.name).split(".")[0]
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names


def with_dead_code(tree: ast.Module) -> ast.Module | None:
    """Something unused in every function, and a function that nobody calls."""
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for function in functions:
        at = after_docstring(function)
        if len(function.body) > at:
            function.body.insert(at, ast.parse("_unused_number = 1 + 2").body[0])
    tree.body.append(ast.parse("def _never_called(first, second):\n    return [first, second, 1.5]").body[0])
    return tree if functions else None


def renamed(tree: ast.Module) -> ast.Module | None:
    """Local variables under other names, where a name tells nothing."""
    changed = False
    for function in [node for node in tree.body if isinstance(node, Function)] + [
        method
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for method in node.body
        if isinstance(method, Function)
    ]:
        changed |= _rename_locals(function)
    return tree if changed else None


def _rename_locals(function: Function) -> bool:
    inside = list(ast.walk(function))
    if any(isinstance(node, (*SCOPES, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)) for node in inside[1:]):
        return False
    if any(isinstance(node, ast.Name) and node.id in ("locals", "vars", "eval", "exec") for node in inside):
        return False
    parameters = {node.arg for node in inside if isinstance(node, ast.arg)}
    stored = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    stored = {name for name in stored - parameters if not any(part in name.lower() for part in _TELLING)}
    stored -= set(dir(builtins))
    for node in inside:
        if isinstance(node, ast.Name) and node.id in stored:
            node.id = f"{node.id}_q"
    return bool(stored)


def reordered(tree: ast.Module) -> ast.Module | None:
    """Functions that stand side by side, the other way round; those whose heads ask for something stay."""
    body: list[ast.stmt] = []
    run: list[ast.stmt] = []
    moved = False
    for node in [*tree.body, None]:
        if isinstance(node, ast.FunctionDef) and _asks_for_nothing(node):
            run.append(node)
            continue
        names = Counter(one.name for one in run if isinstance(one, ast.FunctionDef))
        if len(run) > 1 and max(names.values()) == 1:
            run.reverse()
            moved = True
        body += run
        run = []
        if node is not None:
            body.append(node)
    tree.body = body
    return tree if moved else None


def _asks_for_nothing(node: ast.FunctionDef) -> bool:
    defaults = [*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)]
    return not node.decorator_list and all(isinstance(one, ast.Constant) for one in defaults)


def with_methods_reordered(tree: ast.Module) -> ast.Module | None:
    """The undecorated methods of each class the other way round, but for classes whose bodies ask for one."""
    changed = False
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        places = [at for at, one in enumerate(node.body) if isinstance(one, Function) and not one.decorator_list]
        methods = [one for one in node.body if isinstance(one, Function)]
        others = [inner for one in node.body if not isinstance(one, Function) for inner in ast.walk(one)]
        asked = {inner.id for inner in others if isinstance(inner, ast.Name)}
        names = [one.name for one in methods]
        if len(places) < 2 or len(set(names)) < len(names) or set(names) & asked:
            continue
        for at, one in zip(places, [node.body[at] for at in reversed(places)], strict=True):
            node.body[at] = one
        changed = True
    return tree if changed else None


def wrapped(tree: ast.Module) -> ast.Module | None:
    """The statements of each plain function under an ``if True``."""
    changed = False
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            at = after_docstring(node)
            if node.body[at:] and not _has_yield(node):
                node.body[at:] = [ast.If(ast.Constant(True), node.body[at:], [])]
                changed = True
    return ast.fix_missing_locations(tree) if changed else None


def _has_yield(node: ast.FunctionDef) -> bool:
    return any(isinstance(inner, (ast.Yield, ast.YieldFrom, ast.Nonlocal, ast.Global)) for inner in ast.walk(node))


def named_steps(tree: ast.Module) -> ast.Module | None:
    """``return expression`` by way of a variable."""
    changed = False
    for node in ast.walk(tree):
        for body in blocks_of(node):
            for at in range(len(body) - 1, -1, -1):
                one = body[at]
                if isinstance(one, ast.Return) and one.value is not None and not isinstance(one.value, ast.Name):
                    given = ast.Assign([ast.Name("_result", ast.Store())], one.value)
                    body[at : at + 1] = [given, ast.Return(ast.Name("_result", ast.Load()))]
                    changed = True
    return ast.fix_missing_locations(tree) if changed else None


_MAKE_TENSORS = frozenset("zeros ones empty full eye arange linspace rand randn randint randperm tensor".split())


def annotated(tree: ast.Module) -> ast.Module | None:
    """``mask: torch.Tensor = torch.ones(n)``: what the call says already, said once more."""
    changed = False
    for function in ast.walk(tree):
        if not isinstance(function, Function):
            continue
        inside = list(ast.walk(function))
        elsewhere = {name for node in inside if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
        for body in (body for node in inside for body in blocks_of(node)):
            for at, one in enumerate(body):
                match one:
                    case ast.Assign(
                        targets=[ast.Name(id=name) as target],
                        value=ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=made)) as value,
                    ) if made in _MAKE_TENSORS and name not in elsewhere:
                        stated = ast.Attribute(ast.Name("torch", ast.Load()), "Tensor", ast.Load())
                        body[at] = ast.AnnAssign(target, stated, value, simple=1)
                        changed = True
    return ast.fix_missing_locations(tree) if changed else None


TREES = {
    "aliased imports": aliased,
    "dead code": with_dead_code,
    "renamed locals": renamed,
    "reordered functions": reordered,
    "reordered methods": with_methods_reordered,
    "wrapped in an if": wrapped,
    "named results": named_steps,
    "annotated locals": annotated,
}


def of_trees(name: str) -> Rewriting:
    """The rewriting of that name, of programs."""

    def rewrite(program: Program) -> Rewritten | None:
        tree = TREES[name](ast.parse(program.text))
        return None if tree is None else Rewritten(ast.unparse(tree) + "\n")

    return rewrite
