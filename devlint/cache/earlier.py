"""The packs and an earlier tree: the lint results that hold there, for a comparison with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.cache.contents import Contents, Stamp
from devlint.cache.entries import Entry, answered, key_of, report_of
from devlint.cache.packs import Packs
from devlint.cache.table import DependencyTable
from devlint.cache.verification import Verifier
from devlint.pipeline.stages.display_paths import with_display_paths
from devlint.pipeline.task import FileReport, FileTask
from devlint.source.decoding import content_digest
from devlint.source.tree import EarlierTree
from devlint.source.word_search import has_word

if TYPE_CHECKING:
    from devlint.source.part_fingerprints import PartFingerprints


class EarlierContents(Contents):
    """What was in files then; where nothing has changed, what is in them now."""

    def __init__(self, tree: EarlierTree, now: Contents) -> None:
        super().__init__()
        self._tree = tree
        self._now = now
        self._then: dict[str, str] = {}

    def file(self, path: str, stamp: Stamp = (), digest: str = "") -> str:
        if not self._tree.differs(path):
            return self._now.file(path, stamp, digest)
        if path not in self._then:
            try:
                self._then[path] = content_digest(self._tree.read(path)).hex()
            except OSError:
                self._then[path] = ""
        return self._then[path]


class EarlierResults:
    """The part of a session that knows of one earlier tree. Nothing of it is in the table, which is of the present."""

    def __init__(self, tree: EarlierTree, now: Contents, packs: Packs) -> None:
        self._tree = tree
        self._packs = packs
        self._contents = EarlierContents(tree, now)
        self._verifier = Verifier(self._contents, tree)
        self._numbered = 0
        self._changed: dict[int, PartFingerprints | None] = {}
        self._searched = 0
        self._ends: set[int] = set()
        self._dependencies: dict[int, bool] = {}
        """Those of the table on changed files: whether they held."""

    def known(self, tasks: list[FileTask]) -> tuple[list[FileReport], list[FileTask]]:
        """The reports on the files whose analysis is known, and the tasks that are left."""
        return answered(tasks, self._report)

    def learn(self, task: FileTask, report: FileReport) -> FileReport:
        """Keep what a new report rests on; the report without that."""
        if report.record is not None:
            self._packs.add(key_of(task, report.record.digest), Entry.of(report.record, task).written())
        return replace(report, record=None)

    def may_differ(self, known: DependencyTable, entry: str, name: Callable[[str], str]) -> bool:
        """Whether an entry that holds now may be another one there. ``name`` makes the table's names of paths."""
        if self._tree.has_other_files or entry not in known.of:
            return True  # what an import means may be another file: the packs are asked
        dependencies, exact, extent, searches = known.of[entry]
        changed = self._changed_files(known, name)
        if not changed.keys().isdisjoint(exact) or not self._other_ends(known, name).isdisjoint(searches):
            return True
        if not all(self._holds(known, number, changed) for number in dependencies):
            return True
        files = known.files_of(entry)
        then = (found.size if (found := changed.get(file)) is not None else known.sizes[file] for file in files)
        return extent.after(zip((known.sizes[file] for file in files), then, strict=True)) is None

    def _other_ends(self, known: DependencyTable, name: Callable[[str], str]) -> set[int]:
        """The searches that may have ended otherwise then."""
        if self._searched != len(known.searches.all):
            self._searched = len(known.searches.all)
            paths = {name(path): path for path in self._tree.files}
            self._ends = known.other_ends(paths, lambda file, word: has_word(paths[file], word, self._tree))
        return self._ends

    def _changed_files(self, known: DependencyTable, name: Callable[[str], str]) -> dict[int, PartFingerprints | None]:
        """The files that were others then, by their numbers: the fingerprints of their parts then."""
        if self._numbered != len(known.files.all):
            self._numbered = len(known.files.all)
            for path in self._tree.files:
                number = known.files.find(name(path))
                if number is not None and number not in self._changed:
                    digest = self._contents.file(path)
                    self._changed[number] = self._verifier.fingerprints_of(path, digest) if digest else None
        return self._changed

    def _holds(self, known: DependencyTable, number: int, changed: dict[int, PartFingerprints | None]) -> bool:
        """Whether the parts that a dependency is on were the same."""
        one = known.dependencies.all[number]
        if one.file not in changed:
            return True
        if number not in self._dependencies:
            self._dependencies[number] = known.holds(one, changed[one.file])
        return self._dependencies[number]

    def _report(self, task: FileTask) -> FileReport | None:
        digest = self._contents.file(task.path)
        for text in self._packs.get(key_of(task, digest)) if digest else ():
            entry = Entry.read(text)
            if self._verifier.holds(entry, task.base, task.src):
                there = replace(task, data=self._tree.read(task.path))
                return with_display_paths(report_of(entry, digest, there), task)
        return None
