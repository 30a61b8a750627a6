"""The cache in one run: the reports that still hold, the new ones, and what is stored of them."""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devlint.cache.contents import Contents, existing, markers, packages_around, python_files
from devlint.cache.earlier import EarlierResults
from devlint.cache.entries import Entry, answered, key_of, report_of
from devlint.cache.packs import Packs
from devlint.cache.place import prepared
from devlint.cache.reading import BROKEN
from devlint.cache.rows import read_report, report_row
from devlint.cache.shelf import ProgramShelf
from devlint.cache.table import DependencyTable, EntryDependencies, Result, Search, Table
from devlint.cache.verification import Verifier
from devlint.cache.version import version
from devlint.pipeline.deep_stack import no_collection
from devlint.pipeline.path_symbols import absolute, relative
from devlint.pipeline.stages.display_paths import with_display_paths
from devlint.pipeline.task import FileReport, FileTask, Gate, Record
from devlint.source.decoding import content_digest
from devlint.source.dependencies import RecordedFile
from devlint.source.project import identity_root
from devlint.source.tree import EarlierTree, WorkingTree
from devlint.source.word_search import has_word

if TYPE_CHECKING:
    from devlint.source.program import Program


def opened(directory: Path, cwd: Path) -> Session | None:
    """The cache in a directory for a run from ``cwd``; None where nothing can be written."""
    place = prepared(directory, version(directory))
    return Session(place, identity_root(cwd)) if place is not None else None


class Session:
    """One run's use of the cache. ``directory`` is that of this version; ``root`` names the table."""

    def __init__(self, directory: Path, root: Path) -> None:
        self._root = str(root)
        name = hashlib.blake2b(os.fsencode(self._root), digest_size=8).hexdigest()
        self._path = directory / "local" / f"{name}.json"
        self._packs = Packs(directory / "packs")
        self._shelf = ProgramShelf(directory / "programs")
        self._table = Table.load(self._path)
        self._contents = Contents()
        self._dependencies: DependencyTable | None = None
        self._verifier: Verifier | None = None
        self._gates: dict[int, tuple[Gate, str]] = {}
        self._changed = False
        """Whether the table is no longer what is on disk."""
        self._stale: set[int] = set()
        """Dependencies that do not hold any more."""
        self._dropped: dict[str, EntryDependencies] = {}
        """Those of the entries that were taken out for it."""
        self._outdated: dict[str, tuple[str, Result]] = {}
        """These entries."""
        self._earlier: tuple[EarlierTree, EarlierResults] | None = None

    # -- what is known ----------------------------------------------------------------------------------------------

    def known(self, tasks: list[FileTask]) -> tuple[list[FileReport], list[FileTask]]:
        """The reports on the files whose analysis is known, and the tasks that are left."""
        with no_collection:
            return self._known(tasks)

    def _known(self, tasks: list[FileTask]) -> tuple[list[FileReport], list[FileTask]]:
        try:
            self._refresh()
        except BROKEN:
            self._forget()
        reports, unknown = answered(tasks, self._report)
        if unknown:
            # Now: while files are analysed Python's recursion limit is beyond what the stack of this thread holds.
            self._known_dependencies()
        left = [self._prepared(task) for task in unknown]
        if len(left) == 1:
            # Several may be analysed by other processes, which parse faster than a tree is handed over.
            left = [replace(task, program=self._program_of(task)) for task in left]
        return reports, left

    def _prepared(self, task: FileTask) -> FileTask:
        """A task with what the last analysis of its file tells beforehand; none of it decides what is found."""
        name = self._name(task.path)
        task = replace(task, known=self._states(name), shelf=self._shelf)
        entry = self._last_entry(name)
        return task if entry is None else replace(task, likely=frozenset(entry.scopes), leads_back=entry.leads_back)

    def _last_entry(self, name: str) -> Entry | None:
        """What is kept of the last analysis of a file."""
        key, _ = self._table.entries.get(name) or self._outdated.get(name) or ("", 0)
        try:
            texts = self._packs.get(key) if key else []
            return Entry.read(texts[0]) if texts else None
        except BROKEN:
            return None

    def _states(self, name: str) -> dict[str, RecordedFile]:
        """What the last entry of a file depends on, as far as it holds: paths with the parts that were read."""
        try:
            return self._states_of(self._known_dependencies(), name)
        except BROKEN:
            return {}

    def _states_of(self, known: DependencyTable, name: str) -> dict[str, RecordedFile]:
        found: dict[str, RecordedFile] = {}
        for number in set((known.of.get(name) or self._dropped.get(name) or ([],))[0]) - self._stale:
            one = known.dependencies.all[number]
            path = self._absolute(known.files.all[one.file])
            found[path] = RecordedFile(self._contents.file(path), "", 0, known.parts_of(one), one.fingerprint)
        return found

    def _report(self, task: FileTask) -> FileReport | None:
        if task.data is not None:
            return self._report_on_text(task, task.data)
        name = self._name(task.path)
        row = self._table.files.get(name)
        digest = self._contents.file(task.path, tuple(row[1:]) if row else (), row[0] if row else "")
        key = key_of(task, digest) if digest else ""
        found = self._table.entries.get(name)
        if found is not None and found[0] == key and row is not None and row[0] == digest:
            result = found[1]
            if result == 0:
                return FileReport(task.shown_as)
            gate, identity, report = result
            if gate == self._gate(task.gate) and identity == task.identity:
                return with_display_paths(read_report(report), task)
        return self._from_packs(task, name, key) if key else None

    def _report_on_text(self, task: FileTask, data: bytes) -> FileReport | None:
        """The report on a text that need not be in its file: the packs alone know of it."""
        digest = content_digest(data).hex()
        for text in self._packs.get(key_of(task, digest)):
            entry = Entry.read(text)
            if self._verification().holds(entry, task.base, task.src):
                return with_display_paths(report_of(entry, digest, task), task)
        return None

    def _from_packs(self, task: FileTask, name: str, key: str) -> FileReport | None:
        for text in self._packs.get(key):
            try:
                entry = Entry.read(text)
                if self._verification().holds(entry, task.base, task.src):
                    return self._keep(task, name, key, entry, None)
            except BROKEN:
                continue
        return None

    def _refresh(self) -> None:
        """Take out of the table what does not hold any more."""
        table, contents = self._table, self._contents
        altered: dict[str, str] = {}
        for name, row in table.files.items():
            stamp = tuple(row[1:])
            digest = contents.file(self._absolute(name), stamp, row[0])
            if digest != row[0]:
                altered[name] = digest
            elif stamp != contents.stamp(self._absolute(name)):
                self._changed = True
        moved = False
        for name, (names, *was) in table.directories.items():
            now, stamp = contents.directory(self._absolute(name), tuple(was), names)
            if now != names or not now:
                moved = True
            elif stamp != tuple(was):
                table.directories[name] = [now, *stamp]
                self._changed = True
        moved = moved or any(markers(self._absolute(name)) != found for name, found in table.markers.items())
        if moved:
            # What an import means may be another file: every dependency is verified again.
            self._forget()
        elif altered:
            self._drop(altered)

    def _forget(self) -> None:
        """Let the packs speak alone; the stamps of files are true whatever has moved."""
        self._table.directories, self._table.markers, self._table.entries = {}, {}, {}
        self._dependencies, self._dropped = DependencyTable(None), {}
        self._changed = True

    def _drop(self, altered: dict[str, str]) -> None:
        """Take out the entries that depend on what has changed in files, which have these digests now."""
        self._changed = True
        known = self._known_dependencies()
        changed = {
            number: self._verification().fingerprints_of(self._absolute(name), now) if now else None
            for name, now in altered.items()
            if (number := known.files.find(name)) is not None
        }
        stale = self._stale = known.stale(changed)
        ends = known.other_ends(altered, lambda name, word: has_word(self._absolute(name), word))
        before, others = {number: known.sizes[number] for number in changed}, known.on(changed)
        for number, found in changed.items():
            known.sizes[number] = found.size if found is not None else 0
        for name in list(self._table.entries):
            dependencies, exact, extent, searches = known.of[name]
            outdated = not stale.isdisjoint(dependencies) or not changed.keys().isdisjoint(exact)
            if not outdated and (resized := others.intersection(dependencies)):
                files = {known.dependencies.all[number].file for number in resized}
                left = extent.after((before[file], known.sizes[file]) for file in files)
                outdated = left is None
                known.of[name] = dependencies, exact, left or extent, searches
            if outdated or not ends.isdisjoint(searches):
                self._outdated[name] = self._table.entries.pop(name)
                self._dropped[name] = known.of.pop(name)

    # -- what is learnt ---------------------------------------------------------------------------------------------

    def learn(self, task: FileTask, report: FileReport) -> FileReport:
        """Keep what a new report rests on, if it can be used again; the report without that."""
        record = report.record
        if record is None:
            return report
        try:
            self._learn(task, report, record)
        except BROKEN:
            self._start_anew()
        return replace(report, record=None)

    def _learn(self, task: FileTask, report: FileReport, record: Record) -> None:
        entry = Entry.of(record, task)
        key = key_of(task, record.digest)
        self._packs.add(key, entry.written())
        if task.data is not None:
            return
        self._changed = True
        verifier = self._verification()
        verifier.queried.probed |= record.dependencies.probed
        for directory in record.dependencies.rooted:
            verifier.root(directory)
        verifier.queried.mentions.update(record.dependencies.mentions)
        if self._contents.file(task.path) == record.digest:
            self._keep(task, self._name(task.path), key, entry, record)

    def _keep(self, task: FileTask, name: str, key: str, entry: Entry, record: Record | None) -> FileReport | None:
        """Put an entry that holds into the table; the report, made anew if there is no record of it."""
        if record is None:
            report = report_of(entry, self._contents.file(task.path), task)
        else:
            report = record.report
        self._changed = True
        known = self._known_dependencies()
        numbers: list[int] = []
        sizes: list[tuple[int, int]] = []
        for file, state in entry.parsed:
            path = absolute(file, task.base)
            now = self._contents.file(path)
            if record is not None and now != state.digest:
                return None  # it changed under our hands: the packs know what belongs together
            found = self._verification().fingerprints_of(path, now) if now != state.digest else None
            sizes.append((state.size, found.size if found is not None else state.size))
            numbers.append(known.add(self._name(path), state, sizes[-1][1]))
        exact = [
            known.dependencies.all[n].file
            for n, (file, _) in zip(numbers, entry.parsed, strict=True)
            if file in entry.exact
        ]
        searches = [known.searches.number(self._search(task.base, *row)) for row in entry.mentions]
        extent = entry.extent.after(sizes)
        if extent is None:
            return None
        known.of[name] = (numbers, exact, extent, searches)
        result: Any = 0 if entry.is_empty else [self._gate(task.gate), task.identity, report_row(report)]
        self._table.entries[name] = (key, result)
        return with_display_paths(report, task)

    def _search(self, base: str, file: str, word: str, mention: str) -> Search:
        """A search of an entry as the table has it, with where it ends today if that was verified."""
        path, found = absolute(file, base), absolute(mention, base) if mention else ""
        found = self._verification().queried.mentions.get((path, word), found)
        return Search(self._name(path), word, self._name(found) if found else "")

    # -- a comparison -----------------------------------------------------------------------------------------------

    def at(self, tree: EarlierTree) -> EarlierResults:
        """What is known of an earlier tree."""
        if self._earlier is None or self._earlier[0] is not tree:
            self._earlier = tree, EarlierResults(tree, self._contents, self._packs)
        return self._earlier[1]

    def compared(self, task: FileTask, report: FileReport, tree: EarlierTree) -> FileReport:
        """A report that holds now, with whether it may be another one in an earlier tree."""
        known = self._known_dependencies()
        differs = self.at(tree).may_differ(known, self._name(task.path), self._name)
        return replace(report, touches_compared_tree=differs)

    # -- what is kept -----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Write what has changed. What cannot be written is computed again another time."""
        try:
            with no_collection:
                self._save()
        except OSError:
            return
        except BROKEN:
            self._start_anew()
            with contextlib.suppress(BROKEN):
                self._save()

    def _start_anew(self) -> None:
        """The table was none of ours: keep nothing of it."""
        self._forget()
        self._table.files = {}

    def _save(self) -> None:
        if self._packs.save():
            self._shelf.trim()
        if not self._changed:
            return
        table, contents = self._table, self._contents
        known = self._known_dependencies()
        wanted = {self._absolute(name) for name in table.entries}
        wanted.update(
            self._absolute(known.files.all[n]) for n in {n for entry in known.of for n in known.files_of(entry)}
        )
        queried = self._verification().queried
        probed = {existing(directory) for directory in queried.probed}
        for package in packages_around(file for file, _ in queried.mentions):
            wanted.update(python_files(package, probed.add))
        searched = {known.searches.all[n].file for entry in known.of.values() for n in entry[3]}
        packages = tuple(package + os.sep for package in packages_around(map(self._absolute, searched)))
        wanted.update(path for name in table.files if (path := self._absolute(name)).startswith(packages))
        rows: dict[str, list[Any]] = {}
        for path in sorted(wanted):
            name = self._name(path)
            old = table.files.get(name)
            digest = contents.file(path, tuple(old[1:]) if old else (), old[0] if old else "")
            rows[name] = [digest, *contents.stamp(path)]
        table.files = rows
        for directory in probed:
            names, stamp = contents.directory(directory)
            table.directories.setdefault(self._name(directory), [names, *stamp])
        for directory in queried.rooted:
            name = self._name(directory)
            if name not in table.directories:
                table.markers[name] = markers(directory)
        table.save(self._path, known)

    # -- by the way -------------------------------------------------------------------------------------------------

    def _known_dependencies(self) -> DependencyTable:
        if self._dependencies is None:
            try:
                self._dependencies = self._table.dependencies()
            except BROKEN:
                self._start_anew()
        return self._dependencies or DependencyTable(None)

    def _verification(self) -> Verifier:
        if self._verifier is None:
            self._verifier = Verifier(self._contents, WorkingTree())
        return self._verifier

    def _program_of(self, task: FileTask) -> Program | None:
        """The program of a file that was read to tell what has changed in it."""
        return None if self._verifier is None else self._verifier.program_of(self._contents.file(task.path))

    def _gate(self, gate: Gate) -> str:
        """Tells settings from others; the gate is kept, so that its identity stays its own."""
        known = self._gates.get(id(gate))
        if known is None:
            fixable = None if gate.fixable is None else sorted(gate.fixable)
            settings = (sorted(gate.enabled), sorted(gate.named), gate.min_severity, gate.min_confidence)
            text = repr((*settings, gate.bare_noqa, gate.ignore_noqa, fixable))
            known = self._gates[id(gate)] = (gate, hashlib.blake2b(text.encode(), digest_size=8).hexdigest())
        return known[1]

    def _name(self, path: str) -> str:
        return relative(path, self._root)

    def _absolute(self, name: str) -> str:
        return absolute(name, self._root) if name.startswith("..") else os.path.join(self._root, name)
