"""The files around the one that is linted, as its analysis reads them. Each query is recorded as a dependency."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from devlint.source.dependency_parts import PROGRAM
from devlint.source.library import Index, Library, ParsedFile
from devlint.source.modules import ModuleFinder, package_of
from devlint.source.project import DISTRIBUTION_MARKERS
from devlint.source.word_search import has_word, mention_elsewhere

if TYPE_CHECKING:
    from devlint.source.dependencies import RecordedFile
    from devlint.source.part_fingerprints import Fingerprints


class ProjectFiles(Generic[Index]):
    """The file system as the analysis of one file sees it; every query of it is recorded.

    ``configured`` are the directories of the ``src`` setting; paths are absolute. ``name`` makes the path by which
    findings call a file. ``note`` receives each query with its answer: the name of a field of
    :class:`devlint.source.dependencies.Dependencies`, the key, the answer. Files ``with_findings`` are parsed by
    the library ``with_layout``.
    """

    def __init__(
        self,
        library: Library[Index],
        name: Callable[[str], str],
        configured: tuple[Path, ...] = (),
        note: Callable[[str, Any, Any], None] = lambda query, key, answer: None,
        with_layout: Library[Index] | None = None,
        with_findings: frozenset[str] = frozenset(),
    ) -> None:
        self._library = library
        self._with_layout = with_layout
        self._with_findings = with_findings
        self._name = name
        self._configured = configured
        self._note = note
        self._states: dict[Path, tuple[RecordedFile, Fingerprints | None]] = {}
        self._finders: dict[Path, ModuleFinder] = {}
        self._located: dict[tuple[str, str], tuple[Path | None, frozenset[str]]] = {}
        """By what a finder looks in and a name: what it means there, and the directories that were looked into."""
        self._looked_into: set[str] = set()
        self._rooted: set[str] = set()
        self.watched = False
        """Whether a path was read that may differ in the tree that findings are compared with."""

    def forget(self) -> None:
        """Drops the finders, which refer back to this object."""
        self._finders.clear()

    def ask(self, file: Path) -> None:
        """Records a dependency on a file: on its content, and on where its project and its package begin."""
        self._ask(str(file))
        directory = os.path.dirname(file)
        self._note("rooted", directory, True)
        while directory not in self._rooted:
            self._rooted.add(directory)
            for marker in ("__init__.py", *DISTRIBUTION_MARKERS):
                self._ask(os.path.join(directory, marker))
            directory = os.path.dirname(directory)

    def _ask(self, path: str) -> None:
        earlier = self._library.tree.compared_with
        self.watched = self.watched or (earlier is not None and earlier.differs(path))

    def parsed(self, file: Path) -> ParsedFile[Index] | None:
        """The tree of a file; None for one that cannot be read or is no Python."""
        library = self._library
        if self._with_layout is not None and str(file) in self._with_findings:
            library = self._with_layout
        found = library.parsed(file)
        self._states[file] = library.state(file)
        self.remind(file)
        if not library.bare:
            # Of a text that LibCST reads, the whole is a dependency.
            self.rests_on(file, PROGRAM)
        return found

    def remind(self, file: Path) -> None:
        """Records a dependency on a file that was parsed before."""
        self.ask(file)
        state, fingerprints = self._states[file]
        self._note("parsed", str(file), state)
        if fingerprints is not None:
            self._note("fingerprints", str(file), fingerprints)

    def rests_on(self, file: Path, part: str) -> None:
        """Records that a part of a file was read (:mod:`devlint.source.dependency_parts`)."""
        self._note("parts_read", (str(file), part), True)

    def locate(self, importer: Path, name: str) -> Path | None:
        """The file, or the directory of a package without ``__init__``, that a dotted module name means there."""
        finder = self._finders.get(importer)
        if finder is None:
            self.ask(importer)
            finder = ModuleFinder(importer, self._configured, self._library.tree, self._probe)
            self._finders[importer] = finder
        known = self._located.get((finder.looks_in, name))
        if known is None:
            self._looked_into = set()
            known = finder.locate(name), frozenset(self._looked_into)
            self._located[finder.looks_in, name] = known
        found, looked_into = known
        for directory in looked_into:
            self._note("probed", directory, True)
        self._note("located", (str(importer.parent), name), None if found is None else str(found))
        return found

    def _probe(self, path: str) -> None:
        self._ask(path)
        self._looked_into.add(os.path.dirname(path))

    def mentioned_elsewhere(self, file: Path, name: str) -> bool:
        """Whether another file of the package has the word or sign ``name``; one that is in no package may be."""
        found = self._mention(file, name)
        self._note("mentions", (str(file), name), found)
        return bool(found)

    def is_in_package(self, file: Path) -> bool:
        """Whether a file is in a package; where that changes, so does what is mentioned elsewhere."""
        return package_of(file, self._library.tree) is not None

    def _mention(self, file: Path, name: str) -> str:
        self.ask(file)
        package = package_of(file, self._library.tree)
        if package is None:
            return str(file)
        earlier = self._library.tree.compared_with
        changed = earlier.changed_files(str(package)) if earlier is not None else []
        trees = (self._library.tree, earlier)
        self.watched = self.watched or any(
            has_word(path, name, tree) for path in changed if path != str(file) for tree in trees if tree is not None
        )
        return mention_elsewhere(package, file, name, self._library.tree)

    def is_package(self, module: Path) -> bool:
        """Whether a located module is a directory without ``__init__``."""
        found = self._library.tree.is_dir(str(module))
        self._note("probed", os.path.dirname(module), True)
        self._note("packages", str(module), found)
        return found

    def shown(self, file: Path) -> str:
        """The path by which findings call a file."""
        return self._name(str(file))
