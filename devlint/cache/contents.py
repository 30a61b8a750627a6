"""What is in files and directories now, read only where sizes and times do not tell that it is what it was."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from devlint.source.tree import WORKING_TREE, WorkingTree
from devlint.source.word_search import SEARCHED

DISTRUSTED_NS = 2_000_000_000
"""A file that is younger may change again without its times showing it."""

MARKERS = ("__init__.py", "pyproject.toml", "setup.cfg", ".git")

Stamp = tuple[int, ...]
"""Size, modification, change and inode of a file; without the size those of a directory. Empty: not to be trusted."""


class Contents:
    """Files and directories by their absolute paths, each looked at once in a run."""

    def __init__(self) -> None:
        self._began = time.time_ns()
        self._digests: dict[str, str] = {}
        self._stamps: dict[str, Stamp] = {}

    def file(self, path: str, stamp: Stamp = (), digest: str = "") -> str:
        """The digest of a file's content, which was ``digest`` when it had ``stamp``; empty if it cannot be read."""
        known = self._digests.get(path)
        if known is not None:
            return known
        try:
            found = os.stat(path)
        except OSError:
            self._digests[path], self._stamps[path] = "", ()
            return ""
        now = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        if stamp and stamp == now:
            self._stamps[path] = now
        else:
            try:
                digest = hashlib.blake2b(WORKING_TREE.read(path), digest_size=16).hexdigest()
            except OSError:
                digest = ""
            self._stamps[path] = now if _is_settled(now[1:3]) else ()
        self._digests[path] = digest
        return digest

    def stamp(self, path: str) -> Stamp:
        """What will tell that a file has not changed since it was looked at."""
        return self._stamps.get(path, ())

    def directory(self, path: str, stamp: Stamp = (), names: str = "") -> tuple[str, Stamp]:
        """A digest of the names in a directory that an analysis could read, and the stamp that stands for it.

        The digest is empty while that cannot be told: the directory has changed since the run began.
        """
        try:
            found = os.stat(path)
        except OSError:
            return "absent", ()
        now = (found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        if stamp and stamp == now:
            return names, stamp
        if max(now[:2]) >= self._began:
            return "", ()
        return _names_in(path), now if _is_settled(now[:2]) else ()


def markers(directory: str) -> str:
    """Which of the files that a project or a package begins with are in a directory."""
    return "".join("1" if os.path.exists(os.path.join(directory, name)) else "0" for name in MARKERS)


def existing(directory: str) -> str:
    """The directory itself or, where there is none, the nearest one above, in which it would have to be made."""
    while not os.path.isdir(directory) and os.path.dirname(directory) != directory:
        directory = os.path.dirname(directory)
    return directory


def python_files(directory: str, note: Callable[[str], object]) -> Iterable[str]:
    """Every Python file under a directory; each directory in it is noted."""
    for parent, _, names in os.walk(directory):
        note(parent)
        yield from (os.path.join(parent, name) for name in names if name.endswith(SEARCHED))


def packages_around(files: Iterable[str]) -> set[str]:
    """The topmost packages around files; the directories of those that are in none."""
    from devlint.source.modules import package_of

    tree = WorkingTree()
    directories = {os.path.dirname(file) for file in files}
    return {str(package_of(Path(directory, "_"), tree) or directory) for directory in directories}


def _is_settled(times: Iterable[int]) -> bool:
    return time.time_ns() - max(times) > DISTRUSTED_NS


def _may_be_read(name: str) -> bool:
    """Whether an import could mean it, or a search of a package for a word would read it."""
    return name in MARKERS or name.endswith(SEARCHED) or (name.isidentifier() and name != "__pycache__")


def _names_in(directory: str) -> str:
    found: list[str] = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if _may_be_read(entry.name):
                    # Behind a link is what its directory does not tell.
                    kind = f"{entry.is_dir()}{entry.is_file()}" if entry.is_symlink() else f"{entry.is_dir()}"
                    found.append(f"{entry.name}\0{kind}")
    except OSError:
        return "absent"
    return hashlib.blake2b("\n".join(sorted(found)).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
