"""Which paths the project itself does not want looked at: ``.gitignore``, ``.ignore`` and ``.git/info/exclude``."""

from __future__ import annotations

import os
from pathlib import Path

from devlint.source.globs import Globs, TooMany
from devlint.source.reading import MAX_SETTINGS_BYTES, read_file, reason

IGNORE_FILES = (".ignore", ".gitignore")
"""Within one directory the first that says anything about a path decides."""


class IgnoreRules:
    """The ignore files from a repository's root down to wherever the walk is."""

    def __init__(self) -> None:
        self.unreadable: list[tuple[str, str]] = []
        """Ignore files that are there and say nothing, each with the reason."""
        self._specs: dict[str, tuple[Globs, ...]] = {}
        self._chains: dict[str, tuple[tuple[str, Globs], ...]] = {}

    def ignores(self, directory: str, name: str, is_directory: bool) -> bool:
        """Whether the entry ``name`` of the absolute ``directory`` is ignored, its parents being not."""
        for base, spec in self._chain(directory):
            relative = os.path.relpath(os.path.join(directory, name), base) if base != directory else name
            verdict = spec.verdict(relative.replace(os.sep, "/"), is_directory)
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

    def _chain(self, directory: str) -> tuple[tuple[str, Globs], ...]:
        """The specs that may speak of entries of ``directory``, the nearest first."""
        chain = self._chains.get(directory)
        if chain is None:
            own = tuple((directory, spec) for spec in self._read(directory))
            is_root = os.path.lexists(os.path.join(directory, ".git"))
            parent = os.path.dirname(directory)
            if is_root or parent == directory:
                inherited: tuple[tuple[str, Globs], ...] = ()
            elif parent in self._chains:
                inherited = self._chains[parent]
            elif self._top(directory) != directory:
                inherited = self._chain(parent)
            else:
                inherited = ()
            chain = self._chains[directory] = own + inherited
        return chain

    def _read(self, directory: str) -> tuple[Globs, ...]:
        specs = self._specs.get(directory)
        if specs is None:
            names = [*IGNORE_FILES, os.path.join(".git", "info", "exclude")]
            found = (self._spec(os.path.join(directory, name)) for name in names)
            specs = self._specs[directory] = tuple(spec for spec in found if spec is not None)
        return specs

    def _spec(self, path: str) -> Globs | None:
        try:
            data = read_file(path, MAX_SETTINGS_BYTES)
            lines = data.decode("utf-8-sig", "surrogateescape").split("\n")
            patterns = [line.removesuffix("\r") for line in lines if line.strip() and not line.startswith("#")]
            return Globs(patterns) if patterns else None
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            self.unreadable.append((path, reason(error)))
        except TooMany as error:
            self.unreadable.append((path, str(error)))
        return None
