"""A program as rewritings take it and give it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True)
class Program:
    """One file. ``runs``: functions of a device, as texts in which ``main`` is the program's module; empty for a file
    that is not to be run."""

    text: str
    stem: str = "main"
    in_package: bool = False
    runs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rewritten:
    """``beside``: new files of the same directory, by name. ``scopes``: definitions that are new, and the one that each
    is a part of."""

    text: str
    beside: Mapping[str, str] = field(default_factory=dict)
    scopes: Mapping[str, str] = field(default_factory=dict)


Rewriting = Callable[[Program], Rewritten | None]
"""Gives None where the program leaves nothing to rewrite."""


def definitions(tree: ast.Module) -> Iterator[tuple[Function, ast.ClassDef | None]]:
    """The functions of the module and the methods of its classes, with their class."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node, None
        elif isinstance(node, ast.ClassDef):
            yield from ((inner, node) for inner in node.body if isinstance(inner, Function))


def scope_of(function: Function, owner: ast.ClassDef | None) -> str:
    return function.name if owner is None else f"{owner.name}.{function.name}"


def after_docstring(function: Function) -> int:
    return 1 if ast.get_docstring(function) is not None else 0


def parameters(function: Function) -> list[ast.arg]:
    """All of them, in order."""
    said = function.args
    every = [*said.posonlyargs, *said.args, said.vararg, *said.kwonlyargs, said.kwarg]
    return [one for one in every if one is not None]


def names_in(nodes: list[ast.stmt]) -> set[str]:
    """Every name that is read or bound somewhere in these statements."""
    return {inner.id for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def is_pausing(function: Function) -> bool:
    """Whether it is a generator or a coroutine."""
    pauses = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)
    return isinstance(function, ast.AsyncFunctionDef) or any(isinstance(node, pauses) for node in ast.walk(function))


_TELL_OF_SCOPES = frozenset("locals vars eval exec super __class__ globals dir".split())


def asks_for_its_scope(nodes: list[ast.stmt]) -> bool:
    """Whether these statements would see that they stand in another function."""
    said = (ast.Nonlocal, ast.Global, ast.ImportFrom, ast.Import, ast.Delete)
    return bool(names_in(nodes) & _TELL_OF_SCOPES) or any(
        isinstance(inner, said) for node in nodes for inner in ast.walk(node)
    )
