"""A tree of files in which the texts of open documents stand over those of the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from devlint.source.tree import WorkingTree

_State = bytes | tuple[int, int, int] | None
"""What tells the content of a file from any other: an open text, the stamp of a file, None for no file."""


class BufferTree(WorkingTree):
    """The disk and the open texts, by absolute paths.

    It remembers what it was asked, and :meth:`update` tells which answers have changed: an analysis keeps what it has
    read from one edit to the next. It serves the one thread that analyses.
    """

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        super().__init__()
        self._texts = dict(texts)
        self._contents: dict[str, _State] = {}
        self._listed: dict[str, tuple[int, frozenset[str]]] = {}
        """Directories that were walked: when each was last changed, and what was in it."""

    def read(self, path: str) -> bytes:
        """The open text of a file, or what it holds. Raises OSError."""
        self._contents[path] = self._state(path)  # before the reading: a later change makes another state
        return self._texts[path] if path in self._texts else super().read(path)

    def files_under(self, directory: str) -> Iterator[str]:
        for parent, directories, names in os.walk(directory):
            self._listed[parent] = (_changed_at(parent), _python(directories, names))
            for name in names:
                yield os.path.join(parent, name)
        for path in self._texts:
            if path.startswith(directory + os.sep) and not os.path.isfile(path):
                yield path

    def update(self, texts: Mapping[str, bytes]) -> set[str] | None:
        """Serve these texts from now on. The files whose content was read and is another now.

        None if it has changed where there are files: then nothing that is known of the tree holds any longer.
        """
        new = self._texts.keys() ^ texts.keys()
        self._texts = dict(texts)
        if any(not os.path.isfile(path) for path in new) or not self._has_the_same_files():
            return None
        changed = {path for path, state in self._contents.items() if self._state(path) != state}
        for path in changed:
            del self._contents[path]
        return changed

    def _has_the_same_files(self) -> bool:
        return (
            all(self._is_file(path) is found for path, found in self._files.items())
            and all(os.path.isdir(path) is found for path, found in self._directories.items())
            and all(self._is_listed(directory) for directory in list(self._listed))
        )

    def _is_listed(self, directory: str) -> bool:
        """Whether a directory holds what it held: an editor that saves a file changes its directory's time."""
        at, names = self._listed[directory]
        now = _changed_at(directory)
        if now == at:
            return True
        _, directories, files = next(os.walk(directory), ("", [], []))
        self._listed[directory] = (now, names)
        return _python(directories, files) == names

    def _is_file(self, path: str) -> bool:
        return path in self._texts or os.path.isfile(path)

    def _state(self, path: str) -> _State:
        if path in self._texts:
            return self._texts[path]
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def _changed_at(directory: str) -> int:
    try:
        return os.stat(directory).st_mtime_ns
    except OSError:
        return 0


def _python(directories: list[str], names: list[str]) -> frozenset[str]:
    """What of a directory's content an analysis may read, or look for further files in."""
    return frozenset(
        [name for name in names if name.endswith((".py", ".pyi"))]
        + [name + os.sep for name in directories if name != "__pycache__"]
    )
