"""The table of one directory on one machine, as a file: two lines of JSON, the second read only when it is needed.

Whatever is wrong with the file, the table is empty then.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

from devlint.cache.place import write

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
        with contextlib.suppress(OSError, ValueError, TypeError, LookupError, RecursionError):
            first, second, check = path.read_bytes().split(b"\n")
            if check.decode() != _check(second):
                raise ValueError("the second line is not the one that was written")
            files, directories, markers, entries = json.loads(first)
            for found in (files, directories, markers, entries):
                if not isinstance(found, dict):
                    raise TypeError("not a table")
            table.files, table.directories, table.markers, table.entries = files, directories, markers, entries
            table._second = second
        return table

    def dependencies(self) -> Dependencies:
        """Raises ValueError, TypeError or LookupError."""
        return Dependencies(json.loads(self._second)) if self._second else Dependencies(None)

    def save(self, path: Path, dependencies: Dependencies) -> None:
        """Raises OSError."""
        first = json.dumps([self.files, self.directories, self.markers, self.entries], separators=(",", ":"))
        second = json.dumps(dependencies.written(), separators=(",", ":")).encode()
        path.parent.mkdir(exist_ok=True)
        write(path, b"\n".join([first.encode(), second, _check(second).encode()]))


class Dependencies:
    """Which files each entry depends on, by numbers; and what is known of the contents of those."""

    def __init__(self, read: Any) -> None:
        self.names: list[str] = []
        self.of: dict[str, list[Any]] = {}
        """For each entry: the numbers of the files in the order in which they were asked, those of them of which every
        character counts, their sizes, the budget, and whether something was asked that only the packs know."""
        self.facts: dict[str, tuple[str, int]] = {}
        if read is not None:
            self.names, self.of = list(read["names"]), dict(read["of"])
            self.facts = {digest: (facts, size) for digest, (facts, size) in read["facts"].items()}
        self._numbers = {name: number for number, name in enumerate(self.names)}

    def number(self, name: str) -> int:
        if name not in self._numbers:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        return self._numbers[name]

    def written(self) -> dict[str, Any]:
        return {"names": self.names, "of": self.of, "facts": self.facts}


def _check(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
