"""Parameters whose annotation contradicts another one of the same release, so that it is not known which is true.

``def loss(self, rates: dict[str, Tensor]): return self.mean(rates)`` beside ``def mean(self, rates: Tensor)``: the
value is handed on as it was given, and cannot be both. Nobody checked these annotations; such a place tells nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from typed.annotation import KINDS, Kind
from typed.definitions import Function, Place, functions, parameters


class _Classes:
    """The classes of a release by name, with their methods and the names of their bases."""

    def __init__(self, trees: Mapping[str, ast.Module]) -> None:
        self._methods: dict[str, dict[str, tuple[str, str, Function]]] = {}
        self._bases: dict[str, list[str]] = {}
        twice: set[str] = set()
        for path, tree in trees.items():
            for qualname, node, owner in functions(tree):
                if owner is not None:
                    self._methods.setdefault(owner.name, {})[node.name] = path, qualname, node
            for one in ast.walk(tree):
                if isinstance(one, ast.ClassDef):
                    twice |= {one.name} & self._bases.keys()
                    self._bases[one.name] = [ast.unparse(b).split("[")[0].rpartition(".")[2] for b in one.bases]
        for name in twice:
            del self._bases[name]

    def method(self, name: str, method: str, above: bool, depth: int = 0) -> tuple[str, str, Function] | None:
        """The method of a class or, with ``above``, of its bases. A class name that is used twice is none."""
        if name not in self._bases or depth > 8:
            return None
        own = None if above else self._methods.get(name, {}).get(method)
        found = (self.method(base, method, False, depth + 1) for base in self._bases[name])
        return own or next((one for one in found if one is not None), None)


def contradicted(trees: Mapping[str, ast.Module], truth: Mapping[Place, Kind]) -> frozenset[Place]:
    """The places that are handed on, as they were given, to one of another kind, or to one that is contradicted."""
    classes = _Classes(trees)
    handed = [
        (giver, taker)
        for path, tree in trees.items()
        for qualname, node, owner in functions(tree)
        if owner is not None
        for name, taker in _handed_on(node, owner, classes)
        for giver in (Place(path, qualname, name),)
        if truth.get(giver) in KINDS and truth.get(taker) in KINDS
    ]
    found = {giver for giver, taker in handed if truth[giver] != truth[taker]}
    while more := {giver for giver, taker in handed if taker in found} - found:
        found |= more
    return frozenset(found)


def _handed_on(node: Function, owner: ast.ClassDef, classes: _Classes) -> Iterator[tuple[str, Place]]:
    """The parameters that a method hands on by position to methods of its own class, each with the one that takes it.

    Not where the name was bound anew before, nor under a condition, which may ask for its type.
    """
    own = {argument.arg for argument in parameters(node, owner)}
    for statement in node.body:
        if isinstance(statement, ast.Assign | ast.Return | ast.Expr | ast.AugAssign | ast.AnnAssign):
            for call in (one for one in ast.walk(statement) if isinstance(one, ast.Call)):
                yield from _arguments(call, owner, own, classes)
        own -= {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _arguments(call: ast.Call, owner: ast.ClassDef, names: set[str], classes: _Classes) -> Iterator[tuple[str, Place]]:
    match call.func:
        case ast.Attribute(value=ast.Name(id="self"), attr=method):
            found = classes.method(owner.name, method, above=False)
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=method):
            found = classes.method(owner.name, method, above=True)
        case _:
            return
    if found is None:
        return
    path, qualname, callee = found
    for argument, parameter in zip(call.args, parameters(callee, owner), strict=False):
        if isinstance(argument, ast.Starred):
            return
        if isinstance(argument, ast.Name) and argument.id in names:
            yield argument.id, Place(path, qualname, parameter.arg)
