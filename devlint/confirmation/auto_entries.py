"""``--auto``: the classes with findings and the modules of named files, as entries; what else has findings, and why it
is not built."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from devlint.finding import Finding
from devlint.runtime.entries import Entry
from devlint.source.project import import_roots, module_name

_FUNCTION = (
    "no class of its file calls it, and it does not say that it takes tensors and numbers alone; give an --entry that "
    "calls it"
)
_NUMBERS = ("int", "float", "bool")
MOST_MODULES = 12
"""Modules without findings that are built, those first that no other uses."""

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
            builders = [owner] if owner in classes else _users(owner, classes) or _functions(path, owner)
            for builder in builders:
                target = f"{module}:{builder}"
                entries[target] = Entry("auto", target, root=str(roots[0]))
            if not builders:
                refused.setdefault(_FUNCTION, {})[f"{module}:{owner}"] = None
    return list(entries.values()), [(_some(list(names)), reason) for reason, names in refused.items()]


def named_modules(paths: Iterable[str], cwd: Path) -> list[Entry]:
    """Entries for what looks like a Module in the files that were named one by one: linting does not see everything."""
    entries: list[Entry] = []
    for path in (Path(os.path.realpath(cwd / path)) for path in paths):
        roots = import_roots(path, ()) if path.suffix == ".py" and path.is_file() else ()
        module = module_name(path, roots) if roots else None
        if module is None:
            continue
        modules, used = _modules(path), _classes(path)
        parts = {part for name in modules for part in used.get(name, frozenset()) if part != name}
        entries += [
            Entry("auto", f"{module}:{name}", root=str(roots[0])) for name in sorted(modules, key=parts.__contains__)
        ]
    return entries[:MOST_MODULES]


def _modules(path: Path) -> list[str]:
    """Classes of a file that derive from something called a module, or that have a forward."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    found: list[str] = []
    for node in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
        is_module = any(base.endswith("Module") or base in found for base in bases)
        has_forward = any(isinstance(part, ast.FunctionDef) and part.name == "forward" for part in node.body)
        if is_module or (bases and has_forward and "Function" not in bases):
            found.append(node.name)
    return found


def _some(names: list[str]) -> str:
    rest = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _users(function: str, classes: Mapping[str, frozenset[str]]) -> list[str]:
    return [name for name, used in classes.items() if function in used]


def _functions(path: Path, name: str) -> list[str]:
    """The name if the file defines such a function, and its head says that it takes tensors and numbers alone: who
    calls any other one unasked does not know what he does."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    return [name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name and _computes(node)]


def _computes(function: ast.FunctionDef) -> bool:
    given = function.args
    by_position = [*given.posonlyargs, *given.args]
    by_name = [each for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is None]
    needed = [*by_position[: len(by_position) - len(given.defaults)], *by_name]
    kinds = ["" if each.annotation is None else ast.unparse(each.annotation) for each in needed]
    is_tensor = ["Tensor" in kind for kind in kinds]
    return any(is_tensor) and all(one or kind in _NUMBERS for one, kind in zip(is_tensor, kinds, strict=True))


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
