"""Which files are looked at: the named ones, and the Python files under the named directories."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from devlint.source.ignorefiles import IgnoreRules
from devlint.source.project import identity_root
from devlint.source.reading import reason

SUFFIXES = (".py", ".pyi", ".ipynb")

USUAL_EXCLUDES = (
    ".bzr", ".devlint_cache", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".hypothesis", ".ipynb_checkpoints",
    ".mypy_cache", ".nox", ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv",
    ".vscode",
    "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
)  # fmt: skip


class Exclusion(Protocol):
    """What the configuration says of one path."""

    @property
    def force_exclude(self) -> bool: ...

    @property
    def respect_gitignore(self) -> bool: ...

    def excludes(self, path: str, is_directory: bool) -> bool:
        """Whether an absolute path itself is excluded; its parents are asked separately."""
        ...


class Exclusions(Protocol):
    """The configuration that governs each directory."""

    def for_directory(self, directory: str) -> Exclusion: ...


@dataclass(slots=True)
class Discovered:
    """``files`` are absolute, each once, in the order of their paths."""

    files: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Named paths that do not exist, as they were named."""
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    """Absolute paths that exist and cannot be looked at, with the reason."""
    excluded: int = 0
    """Named or found Python files, and directories, left out by configuration or an ignore file."""


def discover(paths: list[str], exclusions: Exclusions, cwd: Path) -> Discovered:
    """All files to look at. A file named here is taken whatever its name, unless ``force-exclude`` is on."""
    found = Discovered()
    ignore = IgnoreRules()
    files: set[str] = set()
    for path in paths:
        absolute = os.path.normpath(os.path.join(cwd, path))
        try:
            mode = os.stat(absolute).st_mode
        except (FileNotFoundError, NotADirectoryError):
            found.missing.append(path)
            continue
        except (OSError, ValueError) as error:
            found.unreadable.append((absolute, reason(error)))
            continue
        is_directory = stat.S_ISDIR(mode)
        if exclusions.for_directory(os.path.dirname(absolute)).force_exclude and _is_excluded(
            absolute, is_directory, exclusions, ignore
        ):
            found.excluded += 1
        elif is_directory:
            files.update(_walk(absolute, exclusions, ignore, found))
        elif not stat.S_ISREG(mode):
            found.unreadable.append((absolute, "not a regular file"))
        else:
            files.add(absolute)
    found.files = sorted(files)
    found.unreadable += ignore.unreadable
    return found


def is_excluded(file: str, exclusions: Exclusions) -> bool:
    """Whether a file that need not exist (the name given to standard input) would be left out of a walk."""
    return _is_excluded(file, False, exclusions, IgnoreRules())


def _is_excluded(path: str, is_directory: bool, exclusions: Exclusions, ignore: IgnoreRules) -> bool:
    """A path is excluded with any of its parents."""
    settings = exclusions.for_directory(os.path.dirname(path))
    if settings.respect_gitignore and ignore.ignores_path(path, is_directory):
        return True
    current, directory = path, is_directory
    while True:
        parent = os.path.dirname(current)
        if parent == current:
            return False
        if exclusions.for_directory(parent).excludes(current, directory):
            return True
        current, directory = parent, True


def _walk(top: str, exclusions: Exclusions, ignore: IgnoreRules, found: Discovered) -> Iterator[str]:
    """Files under ``top``. Excluded directories are never opened; links to directories are never followed.

    A link to a file is followed within the tree (the repository, or the project) only: a stranger's link may lead to
    what is not the stranger's.
    """
    stack = [top]
    root = os.path.join(identity_root(Path(os.path.realpath(top))), "")
    while stack:
        directory = stack.pop()
        try:
            with os.scandir(directory) as listing:
                entries = list(listing)
        except OSError as error:
            found.unreadable.append((directory, reason(error)))
            continue
        if entries and not _may_be_entered(directory):
            found.unreadable.append((directory, "its files may be listed, but not opened"))
            continue
        settings = exclusions.for_directory(directory)
        for entry in entries:
            is_directory = _is_real_directory(entry)
            if not is_directory and not entry.name.endswith(SUFFIXES):
                continue
            if settings.excludes(entry.path, is_directory) or (
                settings.respect_gitignore and ignore.ignores(directory, entry.name, is_directory)
            ):
                found.excluded += 1
            elif is_directory:
                stack.append(entry.path)
            elif entry.is_symlink() and not os.path.realpath(entry.path).startswith(root):
                found.excluded += 1
            elif _is_regular_file(entry):
                yield entry.path


def _is_real_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_regular_file(entry: os.DirEntry[str]) -> bool:
    """A pipe would block, a dangling link (an editor's lock file) has no text: neither is a file to look at."""
    try:
        return entry.is_file()
    except OSError:
        return False


def _may_be_entered(directory: str) -> bool:
    try:
        os.stat(os.path.join(directory, os.curdir))
    except OSError:
        return False
    return True
