"""Whether a file leaves the default device other than it found it, read from a LibCST tree.

:mod:`devlint.source.outline` reads the same from :mod:`ast`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from devlint.placement.syntax.nodes import code_of, descend
from devlint.source.outline import DEFAULTING, names_the_cpu


def sets_default(tree: cst.Module, mentions: Mapping[str, int]) -> bool:
    """``mentions``: how often each name stands in the file, imports included."""
    named = sum(mentions.get(name, 0) for name in DEFAULTING)
    if not named:
        return False
    undone = sum(len(calls) for one in _functions(tree) if _restores(calls := list(_settings(one))))
    imports = (node for node in descend(tree) if isinstance(node, cst.ImportFrom))
    imported = sum(alias.name.value in DEFAULTING for node in imports for alias in _aliases(node))
    return named > undone + imported


def _functions(tree: cst.Module) -> Iterator[cst.FunctionDef]:
    """Functions and methods that stand in no other."""
    stack: list[cst.CSTNode] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, cst.FunctionDef):
            yield node
        else:
            stack += node.children


def _settings(function: cst.FunctionDef) -> Iterator[cst.Call]:
    for node in descend(function):
        if isinstance(node, cst.Call):
            name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
            if isinstance(name, cst.Name) and name.value in DEFAULTING:
                yield node


def _restores(calls: list[cst.Call]) -> bool:
    """Whether the last of several settings sets the default device back."""
    return len(calls) > 1 and len(calls[-1].args) == 1 and names_the_cpu(code_of(calls[-1].args[0].value))


def _aliases(node: cst.ImportFrom) -> list[cst.ImportAlias]:
    return [] if isinstance(node.names, cst.ImportStar) else list(node.names)
