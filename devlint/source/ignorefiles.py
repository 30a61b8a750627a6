"""Which paths the project itself does not want looked at: ``.gitignore``, ``.ignore`` and ``.git/info/exclude``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".ignore", ".gitignore")
"""Within one directory the first that says anything about a path decides."""


class IgnoreRules:
    """The ignore files from a repository's root down to wherever the walk is."""

    def __init__(self) -> None:
        self._specs: dict[str, tuple[GitIgnoreSpec, ...]] = {}
        self._chains: dict[str, tuple[tuple[str, GitIgnoreSpec], ...]] = {}

    def ignores(self, directory: str, name: str, is_directory: bool) -> bool:
        """Whether the entry ``name`` of the absolute ``directory`` is ignored, its parents being not."""
        for base, spec in self._chain(directory):
            relative = os.path.relpath(os.path.join(directory, name), base) if base != directory else name
            verdict = verdict_on(spec, relative, is_directory)
            if verdict is not None:
                return verdict
        return False

    def ignores_path(self, path: str, is_directory: bool) -> bool:
        """Whether an absolute path is ignored, itself or by one of its parents inside the repository."""
        directory, name = os.path.split(path)
        if not name:
            return False
        top = self._top(directory)
        if directory != top and directory.startswith(top) and self.ignores_path(directory, True):
            return True
        return self.ignores(directory, name, is_directory)

    def _top(self, directory: str) -> str:
        """The repository's root; outside of one, the directory itself: strangers' ignore files above do not count."""
        for candidate in (Path(directory), *Path(directory).parents):
            if os.path.lexists(candidate / ".git"):
                return str(candidate)
        return directory

    def _chain(self, directory: str) -> tuple[tuple[str, GitIgnoreSpec], ...]:
        """The specs that may speak of entries of ``directory``, the nearest first."""
        chain = self._chains.get(directory)
        if chain is None:
            own = tuple((directory, spec) for spec in self._read(directory))
            is_root = os.path.lexists(os.path.join(directory, ".git"))
            parent = os.path.dirname(directory)
            if is_root or parent == directory:
                inherited: tuple[tuple[str, GitIgnoreSpec], ...] = ()
            elif parent in self._chains:
                inherited = self._chains[parent]
            elif self._top(directory) != directory:
                inherited = self._chain(parent)
            else:
                inherited = ()
            chain = self._chains[directory] = own + inherited
        return chain

    def _read(self, directory: str) -> tuple[GitIgnoreSpec, ...]:
        specs = self._specs.get(directory)
        if specs is None:
            names = [*IGNORE_FILES, os.path.join(".git", "info", "exclude")]
            found = (_spec(os.path.join(directory, name)) for name in names)
            specs = self._specs[directory] = tuple(spec for spec in found if spec is not None)
        return specs


def verdict_on(spec: GitIgnoreSpec, relative: str, is_directory: bool) -> bool | None:
    """What the patterns say of this path itself: True to leave it out, False to keep it, None for nothing.

    A pattern also matches what lies inside of a matching directory. That is left to whoever asked about the directory:
    inside of one that was named on the command line, the pattern that covers it no longer counts.
    """
    path = relative.replace(os.sep, "/") + ("/" if is_directory else "")
    verdict = spec.check_file(path)
    parent = path.rstrip("/").rpartition("/")[0]
    if verdict.include and parent:
        above = spec.check_file(parent + "/")
        if above.include and above.index == verdict.index:
            return None
    return verdict.include


def _spec(path: str) -> GitIgnoreSpec | None:
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return None
    patterns = [line for line in lines if line.strip() and not line.startswith("#")]
    if not patterns:
        return None
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns)
    except ValueError:  # one malformed pattern; git ignores it and keeps the others
        return GitIgnoreSpec.from_lines(pattern for pattern in patterns if _is_valid(pattern))


def _is_valid(pattern: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([pattern])
    except ValueError:
        return False
    return True
