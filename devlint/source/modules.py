"""Which file an import names, by the files around the importing one and by nothing else.

What is installed is never read: the answer is the same on every machine that has the same tree.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from devlint.source.project import distribution_root, import_roots, is_installed, project_root
from devlint.source.tree import WORKING_TREE, Tree

INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Directories that many projects share: there a file sees its own package only."""

NEVER_OURS = frozenset(sys.stdlib_module_names) | {"torch", "numpy", "scipy"}
"""Names that mean the same everywhere; a directory of that name beside the file is not what is imported."""

_COMPILED = (".pyi", ".pyx")


class ModuleFinder:
    """Imports as seen from one file. ``configured`` are the directories of the ``src`` setting, absolute.

    ``probe`` receives every path whose existence decides.
    """

    def __init__(
        self,
        file: Path,
        configured: tuple[Path, ...] = (),
        tree: Tree = WORKING_TREE,
        probe: Callable[[str], None] = lambda path: None,
    ) -> None:
        self._directory = file.parent
        self._tree = tree
        self._probe = probe
        self._roots = _roots(file, configured, tree)
        self.looks_in = os.pathsep.join(map(str, (self._directory, *self._roots)))
        """Two that look in the same directories find the same."""

    def locate(self, name: str) -> Path | None:
        """The file or package directory of a dotted module name; leading dots count from the importing file.

        None for what is not in the project. A relative import may lead to what is no Python: a stub, a Cython source.
        """
        bare = name.lstrip(".")
        dots = len(name) - len(bare)
        parts = tuple(bare.split(".")) if bare else ()
        if dots:
            base = self._directory
            for _ in range(dots - 1):
                base = base.parent
            return self._module_file(base, parts) or self._compiled(base, parts)
        if not parts or parts[0] in NEVER_OURS:
            return None
        for root in self._roots:
            if root.name in INSTALLED and parts[0] not in self._directory.parts:
                continue
            found = self._module_file(root, parts)
            if found is not None:
                return found
        return None

    def _module_file(self, base: Path, parts: tuple[str, ...]) -> Path | None:
        """``a.b`` under ``base``: ``a/b/__init__.py``, ``a/b.py``, or the package's directory without one."""
        target = os.path.join(base, *parts)
        for candidate in (os.path.join(target, "__init__.py"), *([f"{target}.py"] if parts else [])):
            self._probe(candidate)
            if self._tree.is_file(candidate):
                return Path(candidate)
        self._probe(target)
        return Path(target) if self._tree.is_dir(target) else None

    def _compiled(self, base: Path, parts: tuple[str, ...]) -> Path | None:
        """The stub or the Cython source of a module that is no Python."""
        target = os.path.join(base, *parts)
        for candidate in (f"{target}{suffix}" for suffix in _COMPILED):
            self._probe(candidate)
            if self._tree.is_file(candidate):
                return Path(candidate)
        return None


def package_of(file: Path, tree: Tree = WORKING_TREE) -> Path | None:
    """The topmost package around a file; None for a file that is in none.

    A directory without an ``__init__.py`` in a package belongs to it (PEP 420), and so does what is in it.
    """
    package, missing = None, 0
    for directory in file.parents:
        if tree.is_file(os.path.join(directory, "__init__.py")):
            package, missing = directory, 0
        elif missing == 1:
            break
        else:
            missing += 1
    return package


def _roots(file: Path, configured: tuple[Path, ...], tree: Tree) -> tuple[Path, ...]:
    """Where absolute imports are looked up: the usual root, then its parents up to the project's (no ``__init__``).

    Outside of any project, as in an unpacked wheel, up to the parent of the topmost package. Then comes the directory
    that the package is installed from: an ``__init__.py`` beside its ``setup.py`` makes it a package of nobody's. Last,
    where nothing is installed, the directory of the file itself.
    """
    roots = list(import_roots(file, configured, tree))
    project = project_root(file.parent, tree)
    top = project or _above_packages(file, tree)
    directory = roots[-1]
    while directory != top and directory.is_relative_to(top):
        directory = directory.parent
        roots.append(directory)
    if project is not None:
        roots.append(project / "src")
    installed_from = distribution_root(file.parent, tree)
    if installed_from is not None:
        roots.append(installed_from)
    if not is_installed(file.parent, tree):
        # Run as a script, or by one beside it, a file finds its neighbours in `sys.path[0]`, `__init__.py` or not.
        roots.append(file.parent)
    return tuple(dict.fromkeys(roots))


def _above_packages(file: Path, tree: Tree) -> Path:
    """The parent of the topmost package around a file; the file's own directory if there is none.

    Directories without an ``__init__.py`` between two packages belong to the outer one (PEP 420).
    """
    packages = [above for above in file.parents if tree.is_file(os.path.join(above, "__init__.py"))]
    return packages[-1].parent if packages else file.parent
