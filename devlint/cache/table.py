"""The table of one directory on one machine, as a file: two lines of JSON, the second read only when it is needed.

Whatever is wrong with the file, the table is empty then.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from devlint.cache.place import write
from devlint.cache.reading import parsed, read_record
from devlint.source.asked import Told

if TYPE_CHECKING:
    from devlint.source.facts import Facts

Thing = TypeVar("Thing", bound=Hashable)

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
        """Those in which something was looked for: a digest of their names, and their stamp."""
        self.markers: dict[str, str] = {}
        """Those that were asked whether something begins there, and are not among the others."""
        self.entries: dict[str, tuple[str, Result]] = {}
        """For each analysed file the key of its entry in the packs, and the last result."""
        self._second = b""

    @classmethod
    def load(cls, path: Path) -> Table:
        table = cls()
        with contextlib.suppress(OSError, ValueError, TypeError, LookupError):
            first, second, check = read_record(path).split(b"\n")
            if check.decode() != _check(second):
                raise ValueError("the second line is not the one that was written")
            files, directories, markers, entries = parsed(first)
            for found in (files, directories, markers, entries):
                if not isinstance(found, dict):
                    raise TypeError("not a table")
            table.files, table.directories, table.markers, table.entries = files, directories, markers, entries
            table._second = second
        return table

    def dependencies(self) -> Dependencies:
        """Raises ValueError, TypeError or LookupError."""
        return Dependencies(parsed(self._second)) if self._second else Dependencies(None)

    def save(self, path: Path, dependencies: Dependencies) -> None:
        """Raises OSError."""
        first = json.dumps([self.files, self.directories, self.markers, self.entries], separators=(",", ":"))
        second = json.dumps(dependencies.written(), separators=(",", ":")).encode()
        path.parent.mkdir(exist_ok=True)
        write(path, b"\n".join([first.encode(), second, _check(second).encode()]))


class Look(NamedTuple):
    """What one or many entries depend on in one file, by numbers."""

    file: int
    parts: int
    """The set of parts that were looked at."""
    facts: str
    """What they say."""


class Dependencies:
    """What each entry depends on. Equal looks at a file are kept once, and so are equal sets of parts."""

    def __init__(self, read: Any) -> None:
        self.files = _Numbered[str]()
        self.parts = _Numbered[tuple[str, ...]]()
        self.looks = _Numbered[Look]()
        self.sizes: list[int] = []
        """Of the files, in characters."""
        self.of: dict[str, tuple[list[int], list[int], int, bool]] = {}
        """For each entry: its looks; those of its files of which every character counts; the budget; and whether
        something was asked that only the packs know."""
        if read is not None:
            names = list(read["words"])
            self.files = _Numbered(read["files"])
            self.sizes = list(read["sizes"])
            self.parts = _Numbered(tuple(names[number] for number in numbers) for numbers in read["parts"])
            self.looks = _Numbered(Look(*look) for look in read["looks"])
            self.of = {name: tuple(row) for name, row in read["of"].items()}

    def look(self, name: str, told: Told, size: int) -> int:
        """The number of the look at a file, whose size is told anew."""
        file = self.files.number(name)
        self.sizes += [0] * (file + 1 - len(self.sizes))
        self.sizes[file] = size
        return self.looks.number(Look(file, self.parts.number(told.parts), told.facts))

    def broken(self, facts: dict[int, Facts | None]) -> set[int]:
        """The looks at these files that would see something else today."""
        return {
            number
            for number, look in enumerate(self.looks.all)
            if look.file in facts and not self._holds(look, facts[look.file])
        }

    def _holds(self, look: Look, facts: Facts | None) -> bool:
        return bool(look.facts) and facts is not None and facts.of(self.parts.all[look.parts]) == look.facts

    def files_of(self, entry: str) -> list[int]:
        """The files that an entry depends on."""
        return [self.looks.all[number].file for number in self.of[entry][0]]

    def written(self) -> dict[str, Any]:
        """What is of use still, as JSON has it."""
        files, words = _Numbered[str](), _Numbered[str]()
        parts, looks = _Numbered[tuple[int, ...]](), _Numbered[Look]()
        again: dict[int, int] = {}
        for number in sorted({number for row in self.of.values() for number in row[0]}):
            file, looked, facts = self.looks.all[number]
            those = tuple(words.number(part) for part in self.parts.all[looked])
            again[number] = looks.number(Look(files.number(self.files.all[file]), parts.number(those), facts))
        return {
            "files": files.all,
            "sizes": [self.sizes[self.files.number(name)] for name in files.all],
            "words": words.all,
            "parts": parts.all,
            "looks": looks.all,
            "of": {
                name: ([again[n] for n in numbers], [files.number(self.files.all[n]) for n in exact], budget, others)
                for name, (numbers, exact, budget, others) in self.of.items()
            },
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


def _check(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
