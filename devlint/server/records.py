"""The analysis that answers hovers: made for the first over a text, and kept for the next ones."""

from __future__ import annotations

from contextlib import ExitStack

from devlint.finding import Place
from devlint.pipeline.explanation import Explained, NotExplained, Record, explained, placements, recorded
from devlint.pipeline.task import FileTask
from devlint.server.buffer_tree import BufferTree


class Records:
    """At most one open analysis. It has to be closed before another analysis begins, and when a file has changed."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._open: tuple[FileTask, Record] | None = None

    def explained(self, task: FileTask, tree: BufferTree, line: int, column: int) -> tuple[Explained, ...]:
        """The expressions around a place, the innermost first; none in a text that is no Python."""
        try:
            return explained(self._record(task, tree), line, column)
        except NotExplained:
            return ()
        except BaseException:
            self.close()  # it may have been stopped half-way
            raise

    def placements(self, task: FileTask, tree: BufferTree) -> tuple[tuple[Place, str], ...]:
        """The names that are bound to tensors and modules, and where these lie; none in a text that is no Python."""
        try:
            return tuple(placements(self._record(task, tree)))
        except NotExplained:
            return ()
        except BaseException:
            self.close()  # it may have been stopped half-way
            raise

    def close(self) -> None:
        self._open = None
        self._stack.close()

    def _record(self, task: FileTask, tree: BufferTree) -> Record:
        if self._open is None or self._open[0] != task:
            self.close()
            self._open = task, self._stack.enter_context(recorded(task, tree))
        return self._open[1]
