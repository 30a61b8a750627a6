"""The dependencies of a lint result: what its analysis read of the tree around its file, and what it read there.

Plain data, so that a cache can verify it later: a result holds as long as each query would have the recorded answer.
Of another file not the whole is a dependency but those *parts* of it that were read
(:mod:`devlint.source.dependency_parts`); :mod:`devlint.source.part_fingerprints` makes one fingerprint of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from devlint.source.part_fingerprints import Fingerprints


class RecordedFile(NamedTuple):
    """The recorded state of one file whose program was read."""

    digest: str
    """Of its content; empty for a file that could not be read."""
    in_project: str = ""
    size: int = 0
    """Characters."""
    parts: tuple[str, ...] = ()
    """The parts of it that were read, in order."""
    fingerprint: str = ""
    """Of these parts; empty where there is no program."""


class Extent(NamedTuple):
    """How much of other files an analysis has read, in characters. From some size on it reads no further ones."""

    limit: int = 0
    """That size."""
    read: int = 0
    """The most that it had read when it read further."""
    refused: int = 0
    """The least that it had read when it did not; 0 if there was nothing that it left out."""

    def after(self, sizes: Iterable[tuple[int, int]]) -> Extent | None:
        """The extent where files have other sizes, given pairs of then and now; None if other files may be read there.

        Which of them had been read by when is not known: what is left of both margins is the least that it may be.
        """
        change = sum(abs(now - then) for then, now in sizes)
        if not change:
            return self
        read, refused = self.read + change, self.refused - change if self.refused else 0
        stays = read < self.limit and (not self.refused or refused >= self.limit)
        return Extent(self.limit, read, refused) if stays else None


@dataclass(slots=True)
class Dependencies:
    """Queries of the tree with their answers. Paths are absolute."""

    known: Mapping[str, RecordedFile] = field(default_factory=dict)
    """Files as an earlier analysis read them, until :meth:`settle`: the same parts of them need no new fingerprint."""
    parsed: dict[str, RecordedFile] = field(default_factory=dict)
    """The files whose programs were read, in that order."""
    fingerprints: dict[str, Fingerprints] = field(default_factory=dict)
    """Of those that have a program, until :meth:`settle`."""
    parts_read: set[tuple[str, str]] = field(default_factory=set)
    """Files and the parts of them that were read, until :meth:`settle`."""
    located: dict[tuple[str, str], str | None] = field(default_factory=dict)
    """The directory of an importing file and a module's name: the file or directory that is imported, if any."""
    packages: dict[str, bool] = field(default_factory=dict)
    """Located modules: whether it is a directory without ``__init__``."""
    mentions: dict[tuple[str, str], str] = field(default_factory=dict)
    """A file and a word: another file of its package that has it; empty if none has, the file itself if it is in no
    package."""
    counted: set[tuple[int, int]] = field(default_factory=set)
    """Of each pass, what :class:`Extent` has of it."""
    probed: set[str] = field(default_factory=set)
    """The directories in which a path was looked up by its name."""
    rooted: set[str] = field(default_factory=set)
    """The directories that were tested for the root of a project or a package."""

    def note(self, query: str, key: Any, answer: Any) -> None:
        """Records an answer under the field named ``query``; of two about the same key the first counts."""
        answers = getattr(self, query)
        if isinstance(answers, set):
            answers.add(key)
        else:
            answers.setdefault(key, answer)

    def extent(self, limit: int) -> Extent:
        """How much was read in all passes."""
        refused = [least for _, least in self.counted if least]
        return Extent(limit, max((most for most, _ in self.counted), default=0), min(refused, default=0))

    def settle(self) -> None:
        """Ends the recording: the parts that were read, and their fingerprint, go to the files.

        Beside the whole of a file no part of it is told.
        """
        from devlint.source.dependency_parts import PROGRAM

        parts: dict[str, list[str]] = {}
        whole = {path for path, part in self.parts_read if part == PROGRAM}
        for path, part in self.parts_read:
            if part == PROGRAM or path not in whole:
                parts.setdefault(path, []).append(part)
        for path, fingerprints in self.fingerprints.items():
            read, state, known = tuple(sorted(parts.get(path, ()))), self.parsed[path], self.known.get(path)
            same = known is not None and (known.digest, known.parts) == (state.digest, read)
            fingerprint = known.fingerprint if known is not None and same else fingerprints.of(read)
            self.parsed[path] = state._replace(parts=read, fingerprint=fingerprint)
        self.known = {}
        self.fingerprints.clear()
        self.parts_read.clear()

    def probe(self, path: str) -> None:
        """Records that a path was looked up in its directory."""
        self.probed.add(os.path.dirname(path))
