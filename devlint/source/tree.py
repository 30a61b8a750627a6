"""The files as an analysis sees them: the working tree, or the state of it at an earlier commit."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Protocol

from devlint.records import dataclass
from devlint.source.reading import most_bytes, read_file

_MOST_LINKS = 20
"""Links followed one after the other before a path is taken for a circle."""


class Tree(Protocol):
    """A file system, as far as an analysis asks for one. Paths are absolute and normalised; each tree equals itself."""

    def __hash__(self) -> int: ...

    def is_file(self, path: str) -> bool: ...

    def is_dir(self, path: str) -> bool: ...

    def read(self, path: str) -> bytes:
        """The content of a file. Raises OSError."""
        ...

    def files_under(self, directory: str) -> Iterator[str]:
        """Every file in a directory and in those inside of it."""
        ...

    @property
    def compared_with(self) -> EarlierTree | None:
        """The tree with which findings in this one are to be compared."""
        ...


class WorkingTree:
    """The disk. Whether a path is a file or a directory is kept: every file of a package looks up the same ones."""

    def __init__(self, compared_with: EarlierTree | None = None) -> None:
        self.compared_with = compared_with
        self._files: dict[str, bool] = {}
        self._directories: dict[str, bool] = {}

    def is_file(self, path: str) -> bool:
        found = self._files.get(path)
        if found is None:
            found = self._files[path] = self._is_file(path)
        return found

    def is_dir(self, path: str) -> bool:
        found = self._directories.get(path)
        if found is None:
            found = self._directories[path] = os.path.isdir(path)
        return found

    def _is_file(self, path: str) -> bool:
        return os.path.isfile(path)

    def read(self, path: str) -> bytes:
        return read_file(path, most_bytes(path))

    def files_under(self, directory: str) -> Iterator[str]:
        for parent, _, names in os.walk(directory):
            for name in names:
                yield os.path.join(parent, name)


WORKING_TREE = WorkingTree()


@dataclass(frozen=True, eq=False)
class EarlierTree:
    """What a directory held earlier: the disk, but for the paths that have changed since.

    What is tracked nowhere and ignored (generated modules, data) is in both states, so that it makes no difference.
    """

    files: Mapping[str, bytes | None]
    """Every changed path: its content then, None where it was no file."""
    directories: Mapping[str, bool]
    """The directories that exist now or then but not both: whether they did then."""
    links: Mapping[str, str]
    """Every symbolic link there was then, and what it said."""

    def is_file(self, path: str) -> bool:
        path = self._followed(path)
        return self.files[path] is not None if path in self.files else os.path.isfile(path)

    def is_dir(self, path: str) -> bool:
        path = self._followed(path)
        return self.directories[path] if path in self.directories else os.path.isdir(path)

    def read(self, path: str) -> bytes:
        path = self._followed(path)
        if path not in self.files:
            return WORKING_TREE.read(path)
        content = self.files[path]
        if content is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return content

    def files_under(self, directory: str) -> Iterator[str]:
        for path in WORKING_TREE.files_under(directory):
            if path not in self.files:
                yield path
        for path in self.changed_files(directory):
            if self.files[path] is not None:
                yield path

    @property
    def compared_with(self) -> None:
        return None

    def changed_files(self, directory: str) -> list[str]:
        """The paths in a directory that are not what they were: files then, now or both."""
        return [path for path in self.files if path.startswith(directory + os.sep)]

    def differs(self, path: str) -> bool:
        """Whether a path may be another thing now than it was then: if not, every question about it has one answer."""
        if path in self.files or path in self.directories:
            return True
        if not self.links and not self._changed_trunks:
            return False
        while path not in self.links and path not in self._changed_trunks:
            parent = os.path.dirname(path)
            if parent == path:
                return False
            path = parent
        return True

    @cached_property
    def has_other_files(self) -> bool:
        """Whether some path was a file or a directory then and is none now, or the other way round."""
        changed = (content is None or not os.path.isfile(path) for path, content in self.files.items())
        return bool(self.directories or self.links) or any(changed)

    @cached_property
    def _changed_trunks(self) -> frozenset[str]:
        """Changed paths that are links or directories now: whatever lies beneath them may differ."""
        return frozenset(path for path in self.files if os.path.islink(path) or os.path.isdir(path))

    def _followed(self, path: str) -> str:
        """The path with the links of that time resolved."""
        for _ in range(_MOST_LINKS if self.links else 0):
            link = next((link for link in _upwards(path) if link in self.links), None)
            if link is None:
                break
            target = os.path.normpath(os.path.join(os.path.dirname(link), self.links[link]))
            path = target + path[len(link) :]
        return path


def _upwards(path: str) -> list[str]:
    found = [path]
    while (parent := os.path.dirname(path)) != path:
        found.append(parent)
        path = parent
    return found
