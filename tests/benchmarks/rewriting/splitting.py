"""A file becomes two: about half of its definitions move to a file beside it, and are imported from there.

A definition can move if it reads nothing of its module but imports and definitions that move with it, so that no two
files import each other. What runs as a program stays whole: a file that is only imported is a library to devlint, and
is judged as one.
"""

from __future__ import annotations

import ast
import builtins
import random
import re
from collections import Counter
from collections.abc import Iterator

from devlint.source.role import has_main_guard
from tests.benchmarks.rewriting.program import Program, Rewritten

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_WORD = re.compile(r"[A-Za-z_]\w*")
_OF_THE_FILE = frozenset({"__name__", "__file__", "__path__", "__package__", "__spec__", "globals", "__all__"})


def split(program: Program) -> Rewritten | None:
    """The file that is left, and the one beside it, which is called ``<stem>_beside.py``."""
    tree = ast.parse(program.text)
    if has_main_guard(program.text):
        return None
    names = _chosen(tree)
    if not names:
        return None
    moved = [node for node in tree.body if isinstance(node, _Definition) and node.name in names]
    stem = f"{program.stem.strip('_')}_beside"
    source = f".{stem}" if program.in_package else stem
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    others = [node for node in tree.body if node not in moved]
    # Where the first of them stood: nothing before has asked for it.
    at = tree.body.index(moved[0])
    others.insert(at, ast.parse(f"from {source} import {', '.join(node.name for node in moved)}").body[0])
    beside = ast.Module([*imports, *moved], [])
    left = ast.Module(others, [])
    return Rewritten(ast.unparse(left) + "\n", {f"{stem}.py": ast.unparse(beside) + "\n"})


def _chosen(tree: ast.Module) -> set[str]:
    """Names of definitions to move: drawn, with all that they need."""
    bound = Counter(_bound_by(tree.body))
    imports = Counter(
        name for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)) for name in _of(node)
    )
    imported = {name for name, times in imports.items() if bound[name] == times}
    needs = {
        node.name: _read(node) & bound.keys() - imported
        for node in tree.body
        if isinstance(node, _Definition) and bound[node.name] == 1 and not _read(node) & _OF_THE_FILE
    }
    changed = True
    while changed:  # until all that is left needs only what is left
        free = {name: names - {name} for name, names in needs.items() if names <= needs.keys()}
        changed, needs = len(free) < len(needs), free
    if len(needs) < 2:
        return set()
    draw = random.Random(" ".join(needs))
    chosen: set[str] = set()
    for name in draw.sample(sorted(needs), len(needs)):
        if len(chosen) >= len(needs) / 2:
            break
        chosen |= _with_needs(name, needs)
    every = {node.name for node in tree.body if isinstance(node, _Definition)}
    return chosen if chosen < every else set()


def _with_needs(name: str, needs: dict[str, set[str]]) -> set[str]:
    found, waiting = {name}, [name]
    while waiting:
        new = needs[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _bound_by(nodes: list[ast.stmt]) -> Iterator[str]:
    """Names of the module that these statements bind, once for each time; ``global`` binds as well."""
    for node in nodes:
        if isinstance(node, _Definition):
            yield node.name
            yield from (name for inner in ast.walk(node) if isinstance(inner, ast.Global) for name in inner.names)
            continue
        for inner in ast.walk(node):
            match inner:
                case ast.Name(ctx=ast.Store() | ast.Del()):
                    yield inner.id
                case ast.Import() | ast.ImportFrom():
                    yield from _of(inner)
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.ExceptHandler(name=str()):
                    yield str(inner.name)


def _of(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [(alias.asname or alias.name).split(".")[0] for alias in node.names]


def _read(node: ast.AST) -> set[str]:
    """Names in a definition, those in texts of annotations as well; more than it reads, never less."""
    found = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and "\n" not in inner.value:
            found |= set(_WORD.findall(inner.value))
    return found - set(dir(builtins)) | (found & _OF_THE_FILE)
