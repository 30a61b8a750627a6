"""The files around the one that is linted: what is known of them, kept from one file to the next."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devlint.pipeline.path_symbols import absolute, symbol_of

if TYPE_CHECKING:
    import libcst as cst

    from devlint.pipeline.task import FileTask
    from devlint.placement.declarations.index import FileIndex
    from devlint.placement.project.workspace import Project, World
    from devlint.source.asked import Asked
    from devlint.source.library import AnyParts, Library
    from devlint.source.outline import Outline
    from devlint.source.tree import Tree

_NONE: frozenset[str] = frozenset()


class Around:
    """The files around the file of a task. What of them is asked is noted in ``asked``."""

    def __init__(self, task: FileTask, tree: Tree, asked: Asked | None) -> None:
        self._task = task
        self._tree = tree
        self._asked = asked
        self.watched = False
        """Whether something was asked that the tree it is compared with may answer otherwise."""

    @contextmanager
    def project(self, alone: bool = False, bare: bool = True, spoken_of: frozenset[str] = _NONE) -> Iterator[Project]:
        """What the analysis knows them by, as bare trees if so wanted, except for those that are spoken of.

        They are looked at afresh, and forgotten, if they are asked ``alone`` or not as everybody asks them.
        """
        from devlint.placement.project.workspace import Project

        task, tree = self._task, self._tree
        alone = alone or not bare or bool(spoken_of - {task.shown_as}) or tree.compared_with is not None
        world = self._alone(bare, spoken_of) if alone else _shared.world(task, tree)
        project = Project(world, Path(task.path), self._note, alone)
        world.look_from(Path(task.path))
        try:
            yield project
        except BaseException:
            _shared.forget()
            raise
        finally:
            project.dissolve()
            self.watched = self.watched or world.watched

    def _alone(self, bare: bool, spoken_of: frozenset[str]) -> World:
        # Definitions are of one analysis, and both worlds would have the same ones.
        _shared.forget()
        base = self._task.base
        paths = frozenset(absolute(name.strip("\0"), base) for name in spoken_of)
        return _world(self._task, self._tree, lambda path: symbol_of(path, base), bare, paths)

    def _note(self, kind: str, asked: Any, told: Any) -> None:
        if self._asked is not None:
            self._asked.note(kind, asked, told)


class _Shared(threading.local):
    """The world that a thread keeps: one at a time, for tasks with the same import roots."""

    def __init__(self) -> None:
        super().__init__()
        self._world: World | None = None
        self._about: tuple[Any, ...] = ()

    def world(self, task: FileTask, tree: Tree) -> World:
        from devlint.source.library import MAX_CHARACTERS

        about = (tree, task.src, task.recorded)
        if self._world is None or self._about != about or self._world.size > MAX_CHARACTERS:
            self.forget()
            # What is said at a place of another file is said by those who ask it alone: here any name will do.
            self._world, self._about = _world(task, tree, "\0{}\0".format), about
        return self._world

    def forget(self) -> None:
        if self._world is not None:
            self._world.dissolve()
        self._world, self._about = None, ()


_shared = _Shared()


def _world(
    task: FileTask, tree: Tree, name: Callable[[str], str], bare: bool = True, spoken_of: frozenset[str] = _NONE
) -> World:
    """``spoken_of`` are absolute paths."""
    from devlint.placement.interpreter.memo import SharedMemo
    from devlint.placement.project.workspace import World
    from devlint.source.library import Surroundings

    memo = SharedMemo()
    library, quoted = (_library(tree, task.recorded, kind) for kind in (bare, False))
    # No other world is left that would use them.
    library.trim()
    quoted.trim()
    files = Surroundings(library, name, task.src, memo.note, quoted, spoken_of)
    return World(files, memo)


@lru_cache(2)
def _library(tree: Tree, recorded: bool, bare: bool) -> Library[FileIndex]:
    """The syntax trees of other files that this process has parsed, bare ones or LibCST's own."""
    from devlint.placement.declarations.index import FileIndex
    from devlint.source.library import MAX_CHARACTERS, Library

    limit = MAX_CHARACTERS if bare else MAX_CHARACTERS // 4
    return Library(_index, FileIndex.dissolve, limit, tree, recorded, bare)


def _index(tree: cst.Module, outline: Outline | None, parts: AnyParts) -> FileIndex:
    from devlint.placement.declarations.index import index_file

    return index_file(tree, outline, parts.definition)
