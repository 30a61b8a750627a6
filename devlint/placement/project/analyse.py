"""From the tree of one file to its events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import libcst as cst

from devlint.placement.declarations.index import FileIndex
from devlint.placement.domain.events import Event
from devlint.placement.project.module_analysis import ModuleAnalysis
from devlint.placement.project.workspace import WorkspaceView
from devlint.source.role import Role


def analyse(
    tree: cst.Module,
    path: str,
    role: Role,
    project: WorkspaceView | None = None,
    file: Path | None = None,
    index: FileIndex | None = None,
) -> Iterator[Event]:
    """The events of one file: module level first, then each definition in source order, then the classes.

    With a ``project``, ``file`` is the path of the text, and imports from other files of its workspace are resolved.
    """
    analysis = ModuleAnalysis(tree, path, role, project, file, index)
    if project is not None:
        project.enter(analysis)
    yield from analysis.events()
