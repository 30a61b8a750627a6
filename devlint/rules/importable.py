"""Files that nothing can import: what they hold never runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.imports import module_of

if TYPE_CHECKING:
    from devlint.placement.project.workspace import WorkspaceView


def imports_what_is_missing(tree: cst.Module, project: WorkspaceView | None, file: Path | None) -> bool:
    """Whether each import of the file raises: it imports, whatever happens, a module that its package lacks.

    ``from ..data.data_classes import DataModule``, and in ``data`` there is no such file. What is generated or compiled
    while the package is built is not there before: such modules lie beside those that use them, or are named as
    private ones are.
    """
    if project is None or file is None:
        return False
    return any(not project.has_module(file, name) for name in _imported(tree) if _is_written_by_hand(name))


def _imported(tree: cst.Module) -> Iterator[str]:
    """The modules that are imported relative to the file, at module level and under no condition."""
    for line in tree.body:
        for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(statement, cst.ImportFrom) and statement.relative and statement.module is not None:
                yield module_of(statement)


def _is_written_by_hand(name: str) -> bool:
    parts = name.lstrip(".").split(".")
    beside = len(parts) == 1 and not name.startswith("..")
    return not beside and not any(part.startswith("_") or "version" in part for part in parts)
