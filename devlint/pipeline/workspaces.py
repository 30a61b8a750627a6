"""The workspace of a pass: what is known of the files around the one that is linted.

It is shared from one file to the next, since most files of a project import the same ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devlint.pipeline.path_symbols import absolute, symbol_of
from devlint.source.deadline import Unwanted

if TYPE_CHECKING:
    import libcst as cst

    from devlint.pipeline.task import FileTask
    from devlint.placement.declarations.index import FileIndex
    from devlint.placement.project.workspace import Workspace, WorkspaceView
    from devlint.source.dependencies import Dependencies
    from devlint.source.kept_programs import Shelf
    from devlint.source.library import AnyLazyParser, Library
    from devlint.source.outline import Outline
    from devlint.source.tree import Tree

_NONE: frozenset[str] = frozenset()


class Workspaces:
    """Opens the workspace around the file of a task, once for each pass. Its queries go to ``dependencies``."""

    def __init__(self, task: FileTask, tree: Tree, dependencies: Dependencies | None) -> None:
        self._task = task
        self._tree = tree
        self._dependencies = dependencies
        self.touches_compared_tree = False
        """Whether a path was read that may differ in the tree that findings are compared with."""

    @contextmanager
    def open(
        self,
        isolated: bool = False,
        bare: bool = True,
        with_findings: frozenset[str] = _NONE,
        until_led_back: bool = False,
    ) -> Iterator[WorkspaceView]:
        """The project as one pass sees it. Files are ``bare`` trees, except for those ``with_findings``.

        An ``isolated`` workspace serves this pass alone and is dropped after it. So is one whose trees are not those
        that other files can use. ``until_led_back`` ends a pass early that an isolated one has to follow.
        """
        from devlint.placement.interpreter.memo import Depends
        from devlint.placement.project.workspace import WorkspaceView

        task, tree = self._task, self._tree
        others = with_findings - {task.shown_as}
        isolated = isolated or not bare or bool(others) or tree.compared_with is not None
        workspace = self._isolated(bare, with_findings) if isolated else _shared.workspace(task, tree)
        project = WorkspaceView(workspace, Path(task.path), self._note, isolated, until_led_back and not isolated)
        workspace.look_from(Path(task.path))
        try:
            yield project
        except (Unwanted, Depends):
            raise  # what was found out of other files is whole
        except BaseException:
            _shared.forget()
            raise
        finally:
            project.dissolve()
            self.touches_compared_tree = self.touches_compared_tree or workspace.watched

    def _isolated(self, bare: bool, with_findings: frozenset[str]) -> Workspace:
        if bare:
            # Definitions are of one analysis, and both worlds would have the same ones.
            _shared.forget()
        base = self._task.base
        paths = frozenset(absolute(name.strip("\0"), base) for name in with_findings)
        return _workspace(self._task, self._tree, partial(symbol_of, base=base), bare, paths)

    def _note(self, query: str, key: Any, answer: Any) -> None:
        if self._dependencies is not None:
            self._dependencies.note(query, key, answer)


class _Shared(threading.local):
    """The workspace that a thread keeps: one at a time, for tasks with the same import roots."""

    def __init__(self) -> None:
        super().__init__()
        self._workspace: Workspace | None = None
        self._about: tuple[Any, ...] = ()

    def workspace(self, task: FileTask, tree: Tree) -> Workspace:
        from devlint.source.library import MAX_KEPT_CHARACTERS

        about = (tree, task.src, task.recorded, task.shelf)
        if self._workspace is None or self._about != about or self._workspace.size > MAX_KEPT_CHARACTERS:
            self.forget()
            # A finding with a place in another file is made in an isolated workspace: here any name will do.
            self._workspace, self._about = _workspace(task, tree, "\0{}\0".format), about
        return self._workspace

    def forget(self) -> None:
        if self._workspace is not None:
            self._workspace.dissolve()
        self._workspace, self._about = None, ()


_shared = _Shared()


def _workspace(
    task: FileTask, tree: Tree, name: Callable[[str], str], bare: bool = True, with_findings: frozenset[str] = _NONE
) -> Workspace:
    """``with_findings`` are absolute paths."""
    from devlint.placement.interpreter.memo import SharedMemo
    from devlint.placement.project.workspace import Workspace
    from devlint.source.project_files import ProjectFiles

    memo = SharedMemo()
    library, with_layout = (_library(tree, task.recorded, kind, task.shelf) for kind in (bare, False))
    # No other world is left that would use them.
    library.trim()
    with_layout.trim()
    library.defers = with_layout.defers = bool(task.known)
    files = ProjectFiles(library, name, task.src, memo.note, with_layout, with_findings)
    return Workspace(files, memo)


def forget(tree: Tree, files: Collection[str], recorded: bool) -> None:
    """Have files of a tree, by their absolute paths, read anew: they have changed. All others stay parsed.

    For the thread that analyses. Where there are files may not have changed: that takes another tree.
    """
    from devlint.source.word_search import forget_searches

    _shared.forget()
    forget_searches(tree, files)
    for file in files:
        for bare in (True, False):
            _library(tree, recorded, bare).forget(Path(file))


@lru_cache(2)
def _library(tree: Tree, recorded: bool, bare: bool, shelf: Shelf | None = None) -> Library[FileIndex]:
    """The library of this process for one tree: of bare trees, or of LibCST's own, which take more memory."""
    from devlint.placement.declarations.index import FileIndex
    from devlint.source.library import MAX_KEPT_CHARACTERS, Library

    limit = MAX_KEPT_CHARACTERS if bare else MAX_KEPT_CHARACTERS // 4
    return Library(_index, FileIndex.dissolve, limit, tree, recorded, bare, shelf)


def _index(tree: cst.Module, outline: Outline | None, parser: AnyLazyParser) -> FileIndex:
    from devlint.placement.declarations.index import index_file

    return index_file(tree, outline, parser.definition)
