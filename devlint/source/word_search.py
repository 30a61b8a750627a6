"""Searches of a package for a word or a sign: whether a file other than the one that asks has it in its text.

A search reads every file of the package. What it ended with is kept, and tells which changes of files it survives.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path, PurePath
from weakref import WeakKeyDictionary

from devlint.source.package_signs import OF_LIBRARIES, has_sign, is_sign
from devlint.source.tree import WORKING_TREE, Tree

SEARCHED = (".py", ".pyi")

_REMEMBERED = 20_000
"""Searches of one tree whose ends a process keeps."""

_ends: WeakKeyDictionary[Tree, dict[tuple[Path, Path, str], str]] = WeakKeyDictionary()
_listed: WeakKeyDictionary[Tree, dict[Path, tuple[str, ...]]] = WeakKeyDictionary()


def mention_elsewhere(package: Path, file: Path, name: str, tree: Tree = WORKING_TREE) -> str:
    """Another file of the package that has the word ``name`` anywhere in its text; empty if none has."""
    ends, key = _ends.setdefault(tree, {}), (package, file, name)
    if key not in ends:
        if len(ends) >= _REMEMBERED:
            ends.clear()
        others = (path for path in _from_near(file, _searched(package, tree)) if path != str(file))
        ends[key] = next((path for path in others if has_word(path, name, tree)), "")
    return ends[key]


def _searched(package: Path, tree: Tree) -> tuple[str, ...]:
    """The files of a package, listed once: another tree is asked where some have come or gone."""
    listed = _listed.setdefault(tree, {})
    if package not in listed:
        listed[package] = tuple(path for path in tree.files_under(str(package)) if path.endswith(SEARCHED))
    return listed[package]


def _from_near(file: Path, paths: tuple[str, ...]) -> Iterator[str]:
    """Those in the directory of a file first: what is mentioned at all, is mentioned there more often than not."""
    beside = f"{file.parent}{os.sep}"
    yield from (path for path in paths if path.startswith(beside))
    yield from (path for path in paths if not path.startswith(beside))


def forget_searches(tree: Tree, changed: Collection[str]) -> None:
    """Drop the searches of a tree that may end otherwise, after changes in files that are named by absolute paths."""

    def now(path: str, name: str) -> bool:
        return has_word(path, name, tree)

    ends = _ends.setdefault(tree, {})
    for key, mention in list(ends.items()):
        if not ends_alike(mention, str(key[1]), key[2], changed, now):
            del ends[key]


def ends_alike(mention: str, file: str, name: str, changed: Collection[str], now: Callable[[str, str], bool]) -> bool:
    """Whether a search ends as it did, with ``mention``, after changes in files; there are the same files as before.

    ``now`` tells whether a file has a word. In doubt the search has to be made again.
    """
    if mention:
        return mention not in changed or now(mention, name)
    return not any(path != file and path.endswith(SEARCHED) and now(path, name) for path in changed)


def _is_of_a_library(path: Path) -> bool:
    """Whether a file is no test, example or script, by its name and that of its directory: where it starts is open."""
    from devlint.source.role import Role, role_of  # what begins with a cache seldom asks

    return role_of(PurePath(path.parent.name, path.name), "") is Role.LIBRARY


def has_word(path: str, name: str, tree: Tree = WORKING_TREE) -> bool:
    """Whether a file has the word ``name``, or the sign (:mod:`devlint.source.package_signs`), anywhere in its text."""
    try:
        data, word = tree.read(path), name.encode()
        if is_sign(name):
            return has_sign(data, name) and (name not in OF_LIBRARIES or _is_of_a_library(Path(path)))
        # Most files do not have it: to look for the bytes alone is ten times as fast.
        return word in data and re.search(rb"\b" + word + rb"\b", data) is not None
    except FileNotFoundError:
        return False
    except OSError:
        # What cannot be read may say anything.
        return True
