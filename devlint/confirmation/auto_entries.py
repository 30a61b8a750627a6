"""``--auto``: the classes with findings, as entries; what else has findings, and why it is not built."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from devlint.finding import Finding
from devlint.runtime.entries import Entry
from devlint.source.project import import_roots, module_name

_FUNCTION = "it is a function, and no class of its file calls it; give an --entry that calls it"
MOST_NAMED = 3
"""Names that a reason is told of; the others are counted."""


def auto_entries(findings: Iterable[Finding], cwd: Path) -> tuple[list[Entry], list[tuple[str, str]]]:
    """Entries for the classes in which there are findings, or which call a function with some.

    With names and reason of what can be no entry, each reason once.
    """
    entries: dict[str, Entry] = {}
    refused: dict[str, dict[str, None]] = {}
    for finding in findings:
        path = Path(os.path.realpath(cwd / finding.place.path))
        roots = import_roots(path, ())
        module = module_name(path, roots)
        owner = finding.scope.split(".")[0]
        if module is None or path.suffix != ".py":
            refused.setdefault("it cannot be imported by name; give an --entry that uses it", {})[
                finding.place.path
            ] = None
        elif not owner:
            refused.setdefault("this happens at import; give an --entry or a --script", {})[module] = None
        else:
            classes = _classes(path)
            builders = [owner] if owner in classes else _users(owner, classes)
            for builder in builders:
                target = f"{module}:{builder}"
                entries[target] = Entry("auto", target, root=str(roots[0]))
            if not builders:
                refused.setdefault(_FUNCTION, {})[f"{module}:{owner}"] = None
    return list(entries.values()), [(_some(list(names)), reason) for reason, names in refused.items()]


def _some(names: list[str]) -> str:
    rest = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _users(function: str, classes: Mapping[str, frozenset[str]]) -> list[str]:
    return [name for name, used in classes.items() if function in used]


@cache
def _classes(path: Path) -> Mapping[str, frozenset[str]]:
    """The classes of a file, each with the names that it uses, also by way of the file's functions."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    by_function = {node.name: _names(node) for node in tree.body if isinstance(node, ast.FunctionDef)}
    return {node.name: _reached(_names(node), by_function) for node in tree.body if isinstance(node, ast.ClassDef)}


def _names(tree: ast.AST) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _reached(names: frozenset[str], by_function: Mapping[str, frozenset[str]]) -> frozenset[str]:
    reached, ahead = set(names), list(names)
    while ahead:
        for name in by_function.get(ahead.pop(), frozenset()) - reached:
            reached.add(name)
            ahead.append(name)
    return frozenset(reached)
