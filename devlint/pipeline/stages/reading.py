"""Stage: the bytes of a task's file."""

from __future__ import annotations

from devlint.pipeline.task import FileTask
from devlint.source.decoding import Unreadable
from devlint.source.reading import reason
from devlint.source.tree import WORKING_TREE, Tree


def read(task: FileTask, tree: Tree = WORKING_TREE) -> bytes:
    """The content of the file: what the task brings along, else what the tree holds. Raises :class:`Unreadable`."""
    if task.data is not None:
        return task.data
    try:
        return tree.read(task.path)
    except OSError as error:
        raise Unreadable(reason(error)) from None
