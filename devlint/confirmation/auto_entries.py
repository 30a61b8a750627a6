"""``--auto``: the classes with findings, as entries; what else has findings, and why it is not built."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from devlint.finding import Finding
from devlint.runtime.entries import Entry
from devlint.source.project import import_roots, module_name


def auto_entries(findings: Iterable[Finding], cwd: Path) -> tuple[list[Entry], list[tuple[str, str]]]:
    """Entries for the classes in which there are findings; name and reason of what can be no entry."""
    entries: dict[str, Entry] = {}
    refused: dict[str, str] = {}
    for finding in findings:
        path = Path(os.path.realpath(cwd / finding.place.path))
        roots = import_roots(path, ())
        module = module_name(path, roots)
        owner = finding.scope.split(".")[0]
        if module is None or path.suffix != ".py":
            refused[finding.place.path] = "it cannot be imported by name; give an --entry that uses it"
        elif not owner:
            refused[f"{module}"] = "this happens at import; give an --entry or a --script"
        elif owner not in _classes(path):
            refused[f"{module}:{owner}"] = "it is a function; give an --entry that calls it"
        else:
            target = f"{module}:{owner}"
            entries[target] = Entry("auto", target, root=str(roots[0]))
    return list(entries.values()), list(refused.items())


@cache
def _classes(path: Path) -> frozenset[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    return frozenset(node.name for node in tree.body if isinstance(node, ast.ClassDef))
