"""The reports on the files of a tree: at once what the cache knows, the others as they are ready."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import TYPE_CHECKING

from devlint.pipeline.task import FileReport, FileTask
from devlint.source.tree import EarlierTree, Tree, WorkingTree

if TYPE_CHECKING:
    from devlint.cache.session import Session


def reports(tasks: list[FileTask], jobs: int, tree: Tree, cache: Session | None) -> Generator[FileReport, None, None]:
    """``tree`` is the working tree, with or without one that it is compared with, or an earlier one."""
    if cache is None:
        from devlint.pipeline.workers import run

        yield from run(tasks, jobs, tree)
        return
    earlier = tree if isinstance(tree, EarlierTree) else None
    there = cache if earlier is None else cache.at(earlier)
    compared = tree.compared_with
    by_name = {task.shown_as: task for task in tasks}

    def told(report: FileReport) -> FileReport:
        return report if compared is None else cache.compared(by_name[report.shown_as], report, compared)

    known, unknown = there.known(tasks)
    yield from map(told, known)
    if not unknown:
        return
    from devlint.pipeline.workers import run

    recorded = {task.shown_as: task for task in unknown}
    # What a comparison would watch for is told by what is recorded.
    with contextlib.closing(run(unknown, jobs, tree if earlier is not None else WorkingTree())) as found:
        for report in found:
            yield told(there.learn(recorded[report.shown_as], report))
