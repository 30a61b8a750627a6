"""How the working tree differs from the commit where it left another branch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from devlint.gate.git import LINK, SUBMODULE, GitError, Repository, TreeEntry
from devlint.source.tree import EarlierTree

_POINTER = b"version https://git-lfs.github.com/spec/"
"""How the file begins that stands for one in Git LFS."""


@dataclass(frozen=True)
class Difference:
    """The base as a tree to analyse, and what became of its files. All paths are absolute."""

    tree: EarlierTree
    existed: frozenset[str]
    """Every file of the base that is no pointer to Git LFS."""
    changed: frozenset[str]
    """Files that are in the base, in the working tree or in both, and not the same."""
    origins: Mapping[str, str]
    """Of renamed files, from the path in the working tree to the one in the base."""
    pointers: frozenset[str]
    """Changed files of the base whose content is in Git LFS."""
    unknown_submodules: tuple[str, ...]
    """Submodules that the base has at another commit, which is not to be had here: their paths in the repository."""

    def earlier_path(self, path: str) -> str | None:
        """Where the base has a file of the working tree; None for a new one."""
        directory, name = os.path.split(path)
        for candidate in (path, os.path.join(os.path.realpath(directory), name)):
            origin = self.origins.get(candidate, candidate)
            if origin in self.existed:
                return origin
        return None


def difference_from(repository: Repository, ref: str, suffixes: Iterable[str]) -> Difference:
    """Compare the working tree, untracked files included, with where it left ``ref``. Raises GitError.

    Of what changed, the content of files that end in one of ``suffixes`` is read.
    """
    commit = repository.merge_base(ref)
    entries = {entry.path: entry for entry in repository.entries(commit)}
    tracked, renames = repository.changes(commit)
    changed = {path.rstrip("/") for path in tracked | repository.untracked()}
    wanted = tuple(suffixes)
    contents = _contents(repository, [entries[path] for path in sorted(changed & entries.keys())], wanted)

    def absolute(path: str) -> str:
        return os.path.join(repository.root, path)

    pointers = {path for path, content in contents.items() if content.startswith(_POINTER)}
    plain = {path for path, entry in entries.items() if entry.mode != SUBMODULE}
    parts, unknown = _of_submodules(repository, entries, changed, wanted)
    tree = _merged([_tree(repository, entries, changed, contents), *parts.values()])
    for path in parts:
        del tree.files[absolute(path)]  # what it holds is told file by file
    return Difference(
        tree=EarlierTree(tree.files, tree.directories, tree.links),
        existed=frozenset(absolute(path) for path in plain - pointers),
        changed=frozenset(absolute(path) for path in changed),
        origins={
            absolute(new): absolute(old)
            for old, new in renames.items()
            if not os.path.lexists(absolute(old))  # it may have been made anew: then it is its own successor
        },
        pointers=frozenset(absolute(path) for path in pointers),
        unknown_submodules=tuple(unknown),
    )


@dataclass
class _Then:
    """What one repository held in the base, by absolute paths, as :class:`EarlierTree` has it."""

    files: dict[str, bytes | None] = field(default_factory=dict)
    directories: dict[str, bool] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)


def _merged(trees: Iterable[_Then]) -> _Then:
    whole = _Then()
    for tree in trees:
        whole.files.update(tree.files)
        whole.directories.update(tree.directories)
        whole.links.update(tree.links)
    return whole


def _tree(
    repository: Repository, entries: Mapping[str, TreeEntry], changed: set[str], contents: Mapping[str, bytes]
) -> _Then:
    def absolute(path: str) -> str:
        return os.path.join(repository.root, path)

    plain = {path for path, entry in entries.items() if entry.mode != SUBMODULE}
    links = [entry for entry in entries.values() if entry.mode == LINK]
    targets = repository.blobs([entry.blob for entry in links])
    return _Then(
        files={absolute(path): contents.get(path, b"") if path in plain else None for path in changed},
        directories={absolute(path): existed for path, existed in _directories(entries, changed).items()},
        links={absolute(entry.path): os.fsdecode(targets[entry.blob]) for entry in links},
    )


def _of_submodules(
    repository: Repository, entries: Mapping[str, TreeEntry], changed: set[str], suffixes: tuple[str, ...]
) -> tuple[dict[str, _Then], list[str]]:
    """What submodules held that the base has at another commit, by their paths; and those whose commit is not here."""
    found: dict[str, _Then] = {}
    unknown: list[str] = []
    for path in sorted(changed):
        entry = entries.get(path)
        if entry is None or entry.mode != SUBMODULE:
            continue
        inner = _checked_out(os.path.join(repository.root, path))
        if inner is None or not inner.has_commit(entry.blob):
            unknown.append(path)
            continue
        then = {inside.path: inside for inside in inner.entries(entry.blob)}
        tracked, _ = inner.changes(entry.blob)
        differs = {name.rstrip("/") for name in tracked | inner.untracked()}
        contents = _contents(inner, [then[name] for name in sorted(differs & then.keys())], suffixes)
        parts, deeper = _of_submodules(inner, then, differs, suffixes)
        found[path] = _merged([_tree(inner, then, differs, contents), *parts.values()])
        for name in parts:
            del found[path].files[os.path.join(inner.root, name)]
        unknown += [f"{path}/{name}" for name in deeper]
    return found, unknown


def _checked_out(directory: str) -> Repository | None:
    """A submodule's own repository; None where only its name is here."""
    if not os.path.lexists(os.path.join(directory, ".git")):
        return None
    try:
        return Repository(Path(directory))
    except GitError:
        return None


def _contents(repository: Repository, entries: list[TreeEntry], suffixes: tuple[str, ...]) -> dict[str, bytes]:
    wanted = [entry for entry in entries if entry.path.endswith(suffixes) and entry.mode not in (LINK, SUBMODULE)]
    blobs = repository.blobs(sorted({entry.blob for entry in wanted}))
    return {entry.path: blobs[entry.blob] for entry in wanted}


def _directories(entries: Iterable[str], changed: Iterable[str]) -> dict[str, bool]:
    """The directories above changed paths that are only in the base (True) or only in the working tree (False)."""
    then = {directory for path in entries for directory in _above(path)}
    kept = {directory for path in set(entries) - set(changed) for directory in _above(path)}
    doubtful = {directory for path in changed for directory in _above(path)} - kept
    return {directory: directory in then for directory in doubtful}


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _begins_with(path: str, data: bytes) -> bool:
    with open(path, "rb") as file:
        return file.read(len(data)) == data


def is_pointer(path: str) -> bool:
    """Whether a file on the disk stands for one in Git LFS."""
    try:
        return os.path.isfile(path) and _begins_with(path, _POINTER)
    except OSError:
        return False
