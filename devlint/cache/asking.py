"""Old questions asked again, each once in a run: would the analysis be told today what it was told then?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.cache.contents import Contents
from devlint.cache.entries import Entry, fits
from devlint.pipeline.path_symbols import absolute
from devlint.source.asked import Asked
from devlint.source.tree import Tree

if TYPE_CHECKING:
    from devlint.source.facts import Facts


class Asking:
    """The tree as it is."""

    def __init__(self, contents: Contents, tree: Tree) -> None:
        self._contents = contents
        self._tree = tree
        self._facts: dict[str, Facts | None] = {}
        self.asked = Asked()
        """Where answers were looked for."""
        self._located: dict[tuple[str, str, tuple[Path, ...]], str | None] = {}
        self._homes: dict[str, str] = {}
        self._used_inside: dict[tuple[str, str], bool] = {}

    def confirms(self, entry: Entry, base: str, src: tuple[Path, ...]) -> bool:
        """Whether every question of an entry has the answer that it had."""
        return (
            all(self._is_package(absolute(path, base)) == answer for path, answer in entry.packages)
            and all(
                self._locate(absolute(directory, base), module, src)
                == (None if found is None else absolute(found, base))
                for directory, module, found in entry.located
            )
            and self._confirms_files(entry, base)
            and all(
                self._is_used_inside(absolute(path, base), word) == answer for path, word, answer in entry.used_inside
            )
        )

    def _confirms_files(self, entry: Entry, base: str) -> bool:
        sizes: list[tuple[int, int]] = []
        for name, told in entry.parsed:
            path = absolute(name, base)
            now = self._contents.file(path)
            size = told.size
            if now != told.digest:
                if not told.facts or not now or name in entry.exact:
                    return False
                facts = self.facts_of(path, now)
                if facts is None or facts.of(told.parts) != told.facts:
                    return False
                size = facts.size
            if told.in_project and self._in_project(path) != told.in_project:
                return False
            sizes.append((told.size, size))
        return fits(sizes, entry.budget)

    def facts_of(self, path: str, digest: str) -> Facts | None:
        """What a file's present content tells others; None where there is no program in it."""
        if digest not in self._facts:
            self._facts[digest] = self._read_facts(path, digest)
        return self._facts[digest]

    def _read_facts(self, path: str, digest: str) -> Facts | None:
        from devlint.source.decoding import Unreadable, content_digest, decode
        from devlint.source.facts import Facts
        from devlint.source.program import program_of

        try:
            source = decode(self._tree.read(path))
        except (OSError, Unreadable):
            return None
        if content_digest(source.data).hex() != digest:
            return None
        program = program_of(source.text)
        return Facts(program) if program is not None else None

    def _in_project(self, path: str) -> str:
        from devlint.source.project import path_in_project

        directory = os.path.dirname(path)
        if directory not in self._homes:
            self.root(directory)
            self._homes[directory] = os.path.dirname(path_in_project(Path(path), self._tree))
        return os.path.join(self._homes[directory], os.path.basename(path))

    def _is_package(self, path: str) -> bool:
        self.asked.probe(path)
        return self._tree.is_dir(path)

    def _locate(self, directory: str, module: str, src: tuple[Path, ...]) -> str | None:
        key = (directory, module, src)
        if key not in self._located:
            from devlint.source.modules import ModuleFinder

            self.root(directory)
            found = ModuleFinder(Path(directory, "_"), src, self._tree, self.asked.probe).locate(module)
            self._located[key] = None if found is None else str(found)
        return self._located[key]

    def _is_used_inside(self, path: str, word: str) -> bool:
        key = (path, word)
        if key not in self._used_inside:
            from devlint.source.modules import mentioned_elsewhere, package_of

            self.root(os.path.dirname(path))
            package = package_of(Path(path), self._tree)
            self._used_inside[key] = package is not None and not mentioned_elsewhere(
                package, Path(path), word, self._tree
            )
            self.asked.used_inside[key] = self._used_inside[key]
        return self._used_inside[key]

    def root(self, directory: str) -> None:
        """Note that it matters whether a project or a package begins in a directory or above."""
        while directory not in self.asked.rooted:
            self.asked.rooted.add(directory)
            directory = os.path.dirname(directory)
