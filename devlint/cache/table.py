"""The table of one directory on one machine, as a file: two lines of JSON, the second read only when it is needed.

Whatever is wrong with the file, the table is empty then.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from devlint.cache.place import write
from devlint.cache.reading import parsed, read_sealed, sealed
from devlint.source.dependencies import Extent, RecordedFile
from devlint.source.word_search import ends_alike

if TYPE_CHECKING:
    from devlint.source.part_fingerprints import PartFingerprints

Thing = TypeVar("Thing", bound=Hashable)

MOST_USED = 0.75
"""The share of its dependencies that a table has to use, or else it is written without the others."""

FileRow = list[Any]
"""Digest and stamp."""

Result = Any
"""0 for nothing, whatever the settings; else the settings' key, the file's identity and the report."""


class Table:
    """Paths are counted from the table's root. All of it was true at one moment."""

    def __init__(self) -> None:
        self.files: dict[str, FileRow] = {}
        """Every file that an entry is about or depends on."""
        self.directories: dict[str, list[Any]] = {}
        """Those in which a path was looked up: a digest of their names, and their stamp."""
        self.markers: dict[str, str] = {}
        """Those that were tested for the root of a project or a package, and are not among the others."""
        self.entries: dict[str, tuple[str, Result]] = {}
        """For each analysed file the key of its entry in the packs, and the last result."""
        self._second = b""

    @classmethod
    def load(cls, path: Path) -> Table:
        table = cls()
        with contextlib.suppress(OSError, ValueError, TypeError, LookupError):
            first, second = read_sealed(path)
            files, directories, markers, entries = parsed(first)
            for found in (files, directories, markers, entries):
                if not isinstance(found, dict):
                    raise TypeError("not a table")
            table.files, table.directories, table.markers, table.entries = files, directories, markers, entries
            table._second = second
        return table

    def dependencies(self) -> DependencyTable:
        """Raises ValueError, TypeError or LookupError."""
        return DependencyTable(parsed(self._second)) if self._second else DependencyTable(None)

    def save(self, path: Path, dependencies: DependencyTable) -> None:
        """Raises OSError."""
        first = json.dumps([self.files, self.directories, self.markers, self.entries], separators=(",", ":"))
        second = json.dumps(dependencies.written(), separators=(",", ":")).encode()
        path.parent.mkdir(exist_ok=True)
        write(path, sealed(first.encode(), second))


class FileDependency(NamedTuple):
    """A dependency of one or many entries on one file, by numbers."""

    file: int
    parts: int
    """The set of parts of it that were read."""
    fingerprint: str
    """Of these parts."""


class Search(NamedTuple):
    """A search of the package of a file for a word, as :attr:`devlint.source.dependencies.Dependencies.mentions`."""

    file: str
    word: str
    mention: str


EntryDependencies = tuple[list[int], list[int], Extent, list[int]]


class DependencyTable:
    """The dependencies of each entry. Equal ones are kept once, and so are equal sets of parts."""

    def __init__(self, read: Any) -> None:
        self.files = _Numbered[str]()
        self._words = _Numbered[str]()
        """The parts of files, of which few are named: those that an entry rests on are numbers."""
        self._parts = _Numbered[tuple[int, ...]]()
        self.dependencies = _Numbered[FileDependency]()
        self.sizes: list[int] = []
        """Of the files, in characters."""
        self.searches = _Numbered[Search]()
        self.of: dict[str, EntryDependencies] = {}
        """For each entry: the numbers of its dependencies; its files of which every byte counts; how much it
        has read of files of the present sizes; and the numbers of its searches for words."""
        if read is not None:
            self._words = _Numbered(read["words"])
            self.files = _Numbered(read["files"])
            self.sizes = list(read["sizes"])
            self._parts = _Numbered(map(tuple, read["parts"]))
            self.dependencies = _Numbered(FileDependency(*row) for row in read["dependencies"])
            self.searches = _Numbered(Search(*row) for row in read["searches"])
            self.of = {
                name: (numbers, exact, Extent(*extent), searches)
                for name, (numbers, exact, extent, searches) in read["of"].items()
            }

    def add(self, name: str, state: RecordedFile, size: int) -> int:
        """The number of a dependency on a file, which has this size now."""
        file = self.files.number(name)
        self.sizes += [0] * (file + 1 - len(self.sizes))
        self.sizes[file] = size
        parts = self._parts.number(tuple(map(self._words.number, state.parts)))
        return self.dependencies.number(FileDependency(file, parts, state.fingerprint))

    def parts_of(self, dependency: FileDependency) -> tuple[str, ...]:
        """The parts of a file that a dependency is on."""
        return tuple(self._words.all[number] for number in self._parts.all[dependency.parts])

    def on(self, files: Collection[int]) -> set[int]:
        """The dependencies on these files."""
        return {number for number, one in enumerate(self.dependencies.all) if one.file in files}

    def stale(self, changed: dict[int, PartFingerprints | None]) -> set[int]:
        """The dependencies on these changed files whose parts have another fingerprint now."""
        return {
            number
            for number, one in enumerate(self.dependencies.all)
            if one.file in changed and not self.holds(one, changed[one.file])
        }

    def other_ends(self, changed: Collection[str], now: Callable[[str, str], bool]) -> set[int]:
        """The searches that may end otherwise after changes in these files; ``now`` tells whether one has a word."""
        return {
            number
            for number, one in enumerate(self.searches.all)
            if not ends_alike(one.mention, one.file, one.word, changed, now)
        }

    def holds(self, recorded: FileDependency, now: PartFingerprints | None) -> bool:
        """Whether the parts that a dependency is on have the recorded fingerprint."""
        fingerprint = recorded.fingerprint
        return bool(fingerprint) and now is not None and now.of(self.parts_of(recorded)) == fingerprint

    def files_of(self, entry: str) -> list[int]:
        """The files that an entry depends on."""
        return [self.dependencies.all[number].file for number in self.of[entry][0]]

    def written(self) -> dict[str, Any]:
        """What entries refer to, as JSON has it, with little else."""
        used = {number for row in self.of.values() for number in row[0]}
        return (self if len(used) >= MOST_USED * len(self.dependencies.all) else self._of_these(used))._written()

    def _of_these(self, used: set[int]) -> DependencyTable:
        """The same table with the dependencies of these numbers alone."""
        table, again = DependencyTable(None), dict[int, int]()
        for number in sorted(used):
            one = self.dependencies.all[number]
            state = RecordedFile("", parts=self.parts_of(one), fingerprint=one.fingerprint)
            again[number] = table.add(self.files.all[one.file], state, self.sizes[one.file])
        table.of = {
            name: (
                [again[n] for n in numbers],
                [table.files.number(self.files.all[n]) for n in exact],
                extent,
                [table.searches.number(self.searches.all[n]) for n in searches],
            )
            for name, (numbers, exact, extent, searches) in self.of.items()
        }
        return table

    def _written(self) -> dict[str, Any]:
        return {
            "files": self.files.all,
            "sizes": self.sizes,
            "parts": self._parts.all,
            "words": self._words.all,
            "dependencies": self.dependencies.all,
            "searches": self.searches.all,
            "of": self.of,
        }


class _Numbered(Generic[Thing]):
    """Things by their numbers, and back."""

    def __init__(self, things: Iterable[Thing] = ()) -> None:
        self.all = list(things)
        self._numbers = {thing: number for number, thing in enumerate(self.all)}

    def find(self, thing: Thing) -> int | None:
        return self._numbers.get(thing)

    def number(self, thing: Thing) -> int:
        found = self._numbers.setdefault(thing, len(self.all))
        if found == len(self.all):
            self.all.append(thing)
        return found
