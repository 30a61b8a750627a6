"""Which file an import names, by the files around the importing one and by nothing else.

What is installed is never asked: the answer is the same on every machine that has the same tree.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from pathlib import Path

from devlint.source.project import import_roots, project_root

INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Directories that many projects share: there a file sees its own package only."""

NEVER_OURS = frozenset(sys.stdlib_module_names) | {"torch", "numpy", "scipy"}
"""Names that mean the same everywhere; a directory of that name beside the file is not what is imported."""


class ModuleFinder:
    """Imports as seen from one file. ``configured`` are the directories of the ``src`` setting, absolute."""

    def __init__(self, file: Path, configured: tuple[Path, ...] = ()) -> None:
        self._directory = file.parent
        self._roots = _roots(file, configured)

    def locate(self, name: str) -> Path | None:
        """The file or package directory of a dotted module name; leading dots count from the importing file.

        None for what is not in the project.
        """
        bare = name.lstrip(".")
        dots = len(name) - len(bare)
        parts = tuple(bare.split(".")) if bare else ()
        if dots:
            base = self._directory
            for _ in range(dots - 1):
                base = base.parent
            return _module_file(base, parts)
        if not parts or parts[0] in NEVER_OURS:
            return None
        for root in self._roots:
            if root.name in INSTALLED and parts[0] not in self._directory.parts:
                continue
            found = _module_file(root, parts)
            if found is not None:
                return found
        return None


def package_of(file: Path) -> Path | None:
    """The topmost package around a file; None for a file that is in none."""
    package = None
    for directory in file.parents:
        if not (directory / "__init__.py").is_file():
            break
        package = directory
    return package


@cache
def mentioned_elsewhere(package: Path, file: Path, name: str) -> bool:
    """Whether another file of the package has the word ``name`` anywhere in its text."""
    word = re.compile(rb"\b" + name.encode() + rb"\b")
    for directory, _, names in os.walk(package):
        for other in names:
            path = os.path.join(directory, other)
            if other.endswith((".py", ".pyi")) and path != str(file) and _has(path, word):
                return True
    return False


def _has(path: str, word: re.Pattern[bytes]) -> bool:
    try:
        with open(path, "rb") as opened:
            return word.search(opened.read()) is not None
    except OSError:
        # What cannot be read may say anything.
        return True


def _roots(file: Path, configured: tuple[Path, ...]) -> tuple[Path, ...]:
    """Where absolute imports are looked up: the usual root, then its parents up to the project's (no ``__init__``)."""
    roots = list(import_roots(file, configured))
    top = project_root(file.parent)
    if top is not None and file.is_relative_to(top):
        directory = roots[-1]
        while directory != top and directory.is_relative_to(top):
            directory = directory.parent
            roots.append(directory)
        roots.append(top / "src")
    return tuple(dict.fromkeys(roots))


def _module_file(base: Path, parts: tuple[str, ...]) -> Path | None:
    """``a.b`` under ``base``: ``a/b/__init__.py``, ``a/b.py``, or the directory ``a/b`` of a package without one."""
    target = os.path.join(base, *parts)
    for candidate in (os.path.join(target, "__init__.py"), f"{target}.py"):
        if parts and os.path.isfile(candidate):
            return Path(candidate)
    init = os.path.join(target, "__init__.py")
    if not parts and os.path.isfile(init):
        return Path(init)
    return Path(target) if os.path.isdir(target) else None
