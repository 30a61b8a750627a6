"""Where a file stands: the root of its project, the root of its repository, and the module name it is imported by."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path, PurePath

from devlint.source.tree import WORKING_TREE, Tree

PROJECT_MARKERS = ("pyproject.toml", "setup.cfg", ".git")
INSTALLERS = ("pyproject.toml", "setup.cfg", "setup.py")
DISTRIBUTION_MARKERS = (*PROJECT_MARKERS, "setup.py")
"""What stands in the directory that a package is installed from."""


_REMEMBERED = 20_000
"""Directories whose roots a process keeps in mind."""


@lru_cache(_REMEMBERED)
def project_root(directory: Path, tree: Tree = WORKING_TREE) -> Path | None:
    """The nearest directory at or above ``directory`` (absolute) that holds a project's marker."""
    if _holds(directory, PROJECT_MARKERS, tree):
        return directory
    parent = directory.parent
    return project_root(parent, tree) if parent != directory else None


@lru_cache(_REMEMBERED)
def distribution_root(directory: Path, tree: Tree = WORKING_TREE) -> Path | None:
    """The nearest directory at or above ``directory`` (absolute) that packages are installed from."""
    if _holds(directory, DISTRIBUTION_MARKERS, tree):
        return directory
    parent = directory.parent
    return distribution_root(parent, tree) if parent != directory else None


@lru_cache(_REMEMBERED)
def is_installed(directory: Path, tree: Tree = WORKING_TREE) -> bool:
    """Whether a directory (absolute) belongs to a package that is built or installed: others are run where they lie.

    An unpacked wheel has no marker, and neither has what lies among installed packages.
    """
    return _installer(directory, tree) is not None or repository_root(directory, tree) is None


@lru_cache(_REMEMBERED)
def _installer(directory: Path, tree: Tree) -> Path | None:
    if _holds(directory, INSTALLERS, tree):
        return directory
    parent = directory.parent
    return _installer(parent, tree) if parent != directory else None


@lru_cache(_REMEMBERED)
def repository_root(directory: Path, tree: Tree = WORKING_TREE) -> Path | None:
    """The nearest directory at or above ``directory`` with a ``.git``: a directory, or a file in a worktree."""
    if _holds(directory, (".git",), tree):
        return directory
    parent = directory.parent
    return repository_root(parent, tree) if parent != directory else None


def _holds(directory: Path, markers: tuple[str, ...], tree: Tree) -> bool:
    base = str(directory)
    paths = (os.path.join(base, marker) for marker in markers)
    return any(tree.is_file(path) or tree.is_dir(path) for path in paths)


def identity_path(file: Path) -> str:
    """The path that names an absolute ``file`` whatever the working directory is, with forward slashes.

    Relative to the repository, else to the project, else to the topmost package's parent.
    """
    return file.relative_to(identity_root(file.parent)).as_posix()


def identity_root(directory: Path, tree: Tree = WORKING_TREE) -> Path:
    """The directory from which the identities of the files in ``directory`` (absolute) are counted."""
    return repository_root(directory, tree) or project_root(directory, tree) or _package_parent(directory, tree)


def shown_path(path: str, cwd: str) -> str:
    """Relative to the working directory, with forward slashes; absolute where there is no relative way (drives)."""
    try:
        return os.path.relpath(path, cwd).replace(os.sep, "/")
    except ValueError:
        return path.replace(os.sep, "/")


def path_in_project(file: Path, tree: Tree = WORKING_TREE) -> PurePath:
    """The path of an absolute ``file`` as its project sees it: what tells the part that the file plays there."""
    return file.relative_to(standing_root(file.parent, tree))


def standing_root(directory: Path, tree: Tree = WORKING_TREE) -> Path:
    """The root of the project that ``directory`` (absolute) belongs to.

    Outside of any project, as in an unpacked wheel, the parent of its topmost package; outside of packages too its own
    parent: what is further above says nothing of it.
    """
    return project_root(directory, tree) or min(_package_parent(directory, tree), directory.parent)


def import_roots(file: Path, configured: tuple[Path, ...], tree: Tree = WORKING_TREE) -> tuple[Path, ...]:
    """The directories from which modules near ``file`` are imported, the most specific first.

    The configured ones (``src``), where they contain the file; else the parent of the topmost directory that has an
    ``__init__.py``.
    """
    containing = [root for root in configured if file.is_relative_to(root)]
    if containing:
        return tuple(sorted(containing, key=lambda root: len(root.parts), reverse=True))
    return (_package_parent(file.parent, tree),)


def module_name(file: Path, roots: tuple[Path, ...]) -> str | None:
    """The dotted name by which ``file`` is imported: ``pkg.net`` for ``src/pkg/net.py``; None outside of all roots."""
    for root in roots:
        if file.is_relative_to(root):
            parts = list(file.relative_to(root).with_suffix("").parts)
            if parts[-1] == "__init__":
                parts.pop()
            if parts and all(part.isidentifier() for part in parts):
                return ".".join(parts)
    return None


@lru_cache(_REMEMBERED)
def _package_parent(directory: Path, tree: Tree) -> Path:
    parent = directory.parent
    if parent == directory or not tree.is_file(os.path.join(directory, "__init__.py")):
        return directory
    return _package_parent(parent, tree)
