"""The library: the files of a project that one process has parsed, with what their trees define.

Every file of a project imports nearly the same others, so that each is parsed once a process.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar, Union

from devlint.records import dataclass
from devlint.source.decoding import Source, Unreadable, content_digest, decode
from devlint.source.dependencies import RecordedFile
from devlint.source.gate import Refusal
from devlint.source.kept_programs import KeptProgram, Shelf, kept_program, plain
from devlint.source.outline import Outline
from devlint.source.part import Part
from devlint.source.program import Program, program_of
from devlint.source.project import path_in_project
from devlint.source.role import Role, role_of
from devlint.source.tree import WORKING_TREE, Tree

if TYPE_CHECKING:
    import ast

    import libcst as cst

    from devlint.source.bare.lazy_parser import BareLazyParser
    from devlint.source.lazy_parser import LazyParser
    from devlint.source.part_fingerprints import Fingerprints

Index = TypeVar("Index")

MAX_KEPT_CHARACTERS = 8_000_000
"""Characters of text whose skeletons a process keeps, about 200,000 lines: a bound on its memory. Beyond, the file that
was used longest ago is dropped, and parsed again if it is needed again."""


AnyLazyParser = Union["LazyParser", "BareLazyParser"]

MakeIndex = Callable[["cst.Module", "Outline | None", AnyLazyParser], Index]
"""Makes the index of a skeleton, given the outline of the file and the parser of its definitions."""


@dataclass(frozen=True, slots=True)
class ParsedFile(Generic[Index]):
    text: str
    tree: cst.Module
    """Its skeleton."""
    outline: Outline | None
    parts: Sequence[Part]
    """What has been parsed of it, the skeleton first."""
    index: Index
    role: Role

    @property
    def size(self) -> int:
        """In characters."""
        return len(self.text)


@dataclass(frozen=True, slots=True)
class _Known(Generic[Index]):
    """What a library has of one file."""

    parsed: ParsedFile[Index] | None
    state: RecordedFile
    fingerprints: Fingerprints | None
    """None for a file that is not parsed, and in a library that is not recorded."""


class Library(Generic[Index]):
    """Parsed files by their paths, each with the ``index`` of its tree; :meth:`trim` drops the least recently used."""

    def __init__(
        self,
        index: MakeIndex[Index],
        dissolve: Callable[[Index], object],
        characters: int = MAX_KEPT_CHARACTERS,
        tree: Tree = WORKING_TREE,
        recorded: bool = False,
        bare: bool = False,
        shelf: Shelf | None = None,
    ) -> None:
        """``dissolve`` breaks the cycles of an index that is dropped, so that its tree is freed with it.

        ``recorded``: it knows the state of each file, for a cache. ``bare``: its trees have no layout. ``shelf`` keeps
        what was parsed beyond the process.
        """
        self.tree = tree
        self.bare = bare
        self.defers = False
        """Whether fingerprints are likely not to be asked for."""
        self._recorded = recorded
        self._shelf = shelf if bare else None
        self._index = index
        self._dissolve = dissolve
        self._limit = characters
        self._files: OrderedDict[Path, _Known[Index]] = OrderedDict()
        self._size = 0

    def parsed(self, file: Path) -> ParsedFile[Index] | None:
        """The tree of a file; None for one that cannot be read or is no Python."""
        return self._known(file).parsed

    def state(self, file: Path) -> tuple[RecordedFile, Fingerprints | None]:
        """The state of the file that :meth:`parsed` depends on; in a library that is not recorded, the size alone."""
        known = self._known(file)
        return known.state, known.fingerprints

    def _known(self, file: Path) -> _Known[Index]:
        if file in self._files:
            self._files.move_to_end(file)
            return self._files[file]
        found = self._files[file] = self._read(file)
        self._size += found.state.size
        return found

    def _read(self, file: Path) -> _Known[Index]:
        """A file with its tree, and with its state if that is recorded."""
        data = None
        try:
            data = self.tree.read(str(file))
            source = decode(data)
        except (OSError, Unreadable):
            return _Known(None, RecordedFile(content_digest(data).hex() if data is not None else ""), None)
        kept = self._kept(source) if self.defers else None
        if kept is not None:
            return self._known_as(file, source, *kept)
        program = program_of(source.text)
        if program is None:
            return self._known_as(file, source, None, None)
        parser = lazy_parser_of(program.text, program.tree, program.outline, self.bare)
        known = self._known_as(file, source, parser, program)
        if self._shelf is not None:
            self._shelf.put(source.digest.hex(), partial(plain, program, source))
        return known

    def _kept(self, source: Source) -> tuple[AnyLazyParser, KeptProgram] | None:
        """The program of a text as an earlier run has parsed it."""
        found = self._shelf.get(source.digest.hex()) if self._shelf is not None else None
        kept = kept_program(found, source) if found is not None else None
        if kept is None:
            return None
        from devlint.source.bare.lazy_parser import BareLazyParser
        from devlint.source.bare.nodes import NeedsLayout

        try:
            return BareLazyParser(kept.text, kept.tree, kept.outline, begins=kept.begins), kept
        except NeedsLayout:
            return None

    def _known_as(
        self, file: Path, source: Source, parser: AnyLazyParser | None, program: Program | KeptProgram | None
    ) -> _Known[Index]:
        where = path_in_project(file, self.tree)
        parsed: ParsedFile[Index] | None = None
        skeleton = parser.skeleton() if parser is not None else None
        if parser is not None and program is not None and skeleton is not None and not isinstance(skeleton, Refusal):
            index = self._index(skeleton, program.outline, parser)
            role = role_of(where, source.text)
            parsed = ParsedFile(program.text, skeleton, program.outline, parser.parsed, index, role)
        size = parsed.size if parsed is not None else 0
        if not self._recorded:
            return _Known(parsed, RecordedFile("", size=size), None)
        from devlint.source.part_fingerprints import DeferredFingerprints, PartFingerprints

        fingerprints: Fingerprints | None = None
        if parsed is not None:
            if isinstance(program, Program) and not self.defers:
                fingerprints = PartFingerprints(program)
            else:
                fingerprints = DeferredFingerprints(source.text)
        return _Known(parsed, RecordedFile(source.digest.hex(), str(where), size), fingerprints)

    def forget(self, file: Path) -> None:
        """Drops a file that has changed. Nobody may be using what was handed out."""
        known = self._files.pop(file, None)
        if known is not None:
            self._drop(known)

    def trim(self) -> None:
        """Drops the least recently used files, down to the limit. Nobody may be using what was handed out."""
        while self._size > self._limit and len(self._files) > 1:
            _, oldest = self._files.popitem(last=False)
            self._drop(oldest)

    def _drop(self, known: _Known[Index]) -> None:
        self._size -= known.state.size
        if known.parsed is not None:
            self._dissolve(known.parsed.index)


def lazy_parser_of(text: str, tree: ast.Module | None, outline: Outline | None, bare: bool) -> AnyLazyParser:
    """The parser of a text: of ``bare`` nodes, if :mod:`ast` can parse the text; else of LibCST's own."""
    if not bare or tree is None or outline is None:
        from devlint.source.lazy_parser import LazyParser

        return LazyParser(text, outline)
    from devlint.source.bare.lazy_parser import BareLazyParser

    return BareLazyParser(text, tree, outline)
