"""The verification of recorded dependencies: would each query have the recorded answer today?

Each query is answered once in a run.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.cache.contents import Contents
from devlint.cache.entries import Entry
from devlint.pipeline.path_symbols import absolute
from devlint.source.dependencies import Dependencies
from devlint.source.tree import Tree

if TYPE_CHECKING:
    from devlint.source.part_fingerprints import PartFingerprints
    from devlint.source.program import Program


class Verifier:
    """Compares recorded dependencies with the tree as it is now."""

    def __init__(self, contents: Contents, tree: Tree) -> None:
        self._contents = contents
        self._tree = tree
        self._fingerprints: dict[str, PartFingerprints | None] = {}
        self.queried = Dependencies()
        """What was queried in this run, for the stamps that the table keeps."""
        self._located: dict[tuple[str, str, tuple[Path, ...]], str | None] = {}
        self._homes: dict[str, str] = {}
        self._last_read: tuple[str, Program] | None = None

    def holds(self, entry: Entry, base: str, src: tuple[Path, ...]) -> bool:
        """Whether every dependency of an entry has its recorded answer today."""
        return (
            all(self._is_package(absolute(path, base)) == answer for path, answer in entry.packages)
            and all(
                self._locate(absolute(directory, base), module, src)
                == (None if found is None else absolute(found, base))
                for directory, module, found in entry.located
            )
            and self._files_hold(entry, base)
            and all(
                bool(self._mention(absolute(path, base), word, absolute(found, base) if found else "")) == bool(found)
                for path, word, found in entry.mentions
            )
        )

    def _files_hold(self, entry: Entry, base: str) -> bool:
        sizes: list[tuple[int, int]] = []
        for name, recorded in entry.parsed:
            path = absolute(name, base)
            now = self._contents.file(path)
            size = recorded.size
            if now != recorded.digest:
                if not recorded.fingerprint or not now or name in entry.exact:
                    return False
                found = self.fingerprints_of(path, now)
                if found is None or found.of(recorded.parts) != recorded.fingerprint:
                    return False
                size = found.size
            if recorded.in_project and self._in_project(path) != recorded.in_project:
                return False
            sizes.append((recorded.size, size))
        return entry.extent.after(sizes) is not None

    def fingerprints_of(self, path: str, digest: str) -> PartFingerprints | None:
        """The fingerprints of the parts of a file's present content; None where there is no program in it."""
        if digest not in self._fingerprints:
            self._fingerprints[digest] = self._read_fingerprints(path, digest)
        return self._fingerprints[digest]

    def program_of(self, digest: str) -> Program | None:
        """The program of this content, if it is the last one that was read here: trees are large."""
        return self._last_read[1] if self._last_read is not None and self._last_read[0] == digest else None

    def _read_fingerprints(self, path: str, digest: str) -> PartFingerprints | None:
        from devlint.source.decoding import Unreadable, content_digest, decode
        from devlint.source.part_fingerprints import PartFingerprints
        from devlint.source.program import program_of

        try:
            source = decode(self._tree.read(path))
        except (OSError, Unreadable):
            return None
        if content_digest(source.data).hex() != digest:
            return None
        program = program_of(source.text)
        if program is None:
            return None
        self._last_read = digest, program
        return PartFingerprints(program)

    def _in_project(self, path: str) -> str:
        from devlint.source.project import path_in_project

        directory = os.path.dirname(path)
        if directory not in self._homes:
            self.root(directory)
            self._homes[directory] = os.path.dirname(path_in_project(Path(path), self._tree))
        return os.path.join(self._homes[directory], os.path.basename(path))

    def _is_package(self, path: str) -> bool:
        self.queried.probe(path)
        return self._tree.is_dir(path)

    def _locate(self, directory: str, module: str, src: tuple[Path, ...]) -> str | None:
        key = (directory, module, src)
        if key not in self._located:
            from devlint.source.modules import ModuleFinder

            self.root(directory)
            found = ModuleFinder(Path(directory, "_"), src, self._tree, self.queried.probe).locate(module)
            self._located[key] = None if found is None else str(found)
        return self._located[key]

    def _mention(self, path: str, word: str, recorded: str) -> str:
        """Where a file of the package mentions a word, as :attr:`Dependencies.mentions` has it."""
        key = (path, word)
        if key not in self.queried.mentions:
            from devlint.source.modules import package_of
            from devlint.source.word_search import SEARCHED, has_word, mention_elsewhere

            self.root(os.path.dirname(path))
            package = package_of(Path(path), self._tree)
            if package is None:
                found = path
            elif (
                recorded != path
                and recorded.startswith(f"{package}{os.sep}")
                and recorded.endswith(SEARCHED)
                and has_word(recorded, word, self._tree)
            ):
                found = recorded
            else:
                found = mention_elsewhere(package, Path(path), word, self._tree)
            self.queried.mentions[key] = found
        return self.queried.mentions[key]

    def root(self, directory: str) -> None:
        """Records that a directory and those above were tested for the root of a project or a package."""
        while directory not in self.queried.rooted:
            self.queried.rooted.add(directory)
            directory = os.path.dirname(directory)
