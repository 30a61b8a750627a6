"""Files that nothing can import: what they hold never runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.imports import module_of
from devlint.placement.syntax.nodes import dotted

if TYPE_CHECKING:
    from devlint.placement.project.workspace import WorkspaceView


def imports_what_is_missing(tree: cst.Module, project: WorkspaceView | None, file: Path | None) -> bool:
    """Whether each import of the file raises: it imports, whatever happens, a module that its package lacks.

    ``from ..data.data_classes import DataModule``, and in ``data`` there is no such file. What is generated or compiled
    while the package is built is not there before: such modules lie beside those that use them, or are named as
    private ones are, or after what they are made from.
    """
    if project is None or file is None:
        return False
    missing = (
        not project.has_module(file, name) if name.startswith(".") else project.lacks_module(file, name)
        for name in _imported(tree)
        if _is_written_by_hand(name, file)
    )
    return any(missing)


def _imported(tree: cst.Module) -> Iterator[str]:
    """The modules that are imported by their full names or relative to the file, at its top and under no condition."""
    for line in tree.body:
        for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(statement, cst.ImportFrom) and statement.module is not None:
                yield module_of(statement)
            elif isinstance(statement, cst.Import):
                yield from (name for alias in statement.names if (name := dotted(alias.name)))


def _is_written_by_hand(name: str, file: Path) -> bool:
    parts = name.lstrip(".").split(".")
    if name.startswith("."):
        beside = len(parts) == 1 and not name.startswith("..")
    else:
        beside = len(parts) < 2 or parts[-2] == file.parent.name
    return not beside and not any(part.startswith("_") or _is_made(part) for part in parts)


def _is_made(part: str) -> bool:
    return part.endswith(("_pb2", "_pb2_grpc")) or any(word in part for word in _MADE)


_MADE = ("version", "cuda", "cpp", "ext", "native", "kernel", "generated", "proto")
"""Parts of the names of modules that a build makes."""
