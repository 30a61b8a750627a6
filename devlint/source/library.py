"""The other files of a project, read and parsed: the file system as the analysis sees it."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union

from devlint.source.asked import Told
from devlint.source.decoding import Unreadable, content_digest, decode
from devlint.source.gate import Refusal
from devlint.source.looks import PROGRAM
from devlint.source.modules import ModuleFinder, has_word, mentioned_elsewhere, package_of
from devlint.source.outline import Outline
from devlint.source.part import Part
from devlint.source.program import Program, program_of
from devlint.source.project import PROJECT_MARKERS, path_in_project
from devlint.source.role import Role, role_of
from devlint.source.tree import WORKING_TREE, Tree

if TYPE_CHECKING:
    import ast

    import libcst as cst

    from devlint.source.bare.parts import BareParts
    from devlint.source.facts import Facts
    from devlint.source.parts import Parts

Index = TypeVar("Index")

MAX_CHARACTERS = 8_000_000
"""Text whose skeletons a process keeps: about 200,000 lines. What it did not keep it would parse again, at a peak."""


AnyParts = Union["Parts", "BareParts"]

MakeIndex = Callable[["cst.Module", "Outline | None", AnyParts], Index]
"""What a skeleton says, given the outline of the file and the means to parse the rest."""


@dataclass(frozen=True, slots=True)
class ParsedFile(Generic[Index]):
    tree: cst.Module
    """Its skeleton."""
    parts: Sequence[Part]
    """What has been parsed of it, the skeleton first."""
    index: Index
    role: Role
    size: int
    """Characters."""


@dataclass(frozen=True, slots=True)
class _Known(Generic[Index]):
    """What a library has of one file."""

    parsed: ParsedFile[Index] | None
    told: Told
    facts: Facts | None
    """None where nothing is parsed, and where nobody wants them."""


class Library(Generic[Index]):
    """Parsed files for one process, each with what ``index`` says of its tree; :meth:`trim` leaves the latest used."""

    def __init__(
        self,
        index: MakeIndex[Index],
        dissolve: Callable[[Index], object],
        characters: int = MAX_CHARACTERS,
        tree: Tree = WORKING_TREE,
        recorded: bool = False,
        bare: bool = False,
    ) -> None:
        """``dissolve`` breaks the cycles of an index that nobody asks any more, so that its tree goes with it.

        ``recorded``: it can say of each file what its answer rests on. ``bare``: its trees have no layout.
        """
        self.tree = tree
        self.bare = bare
        self._recorded = recorded
        self._index = index
        self._dissolve = dissolve
        self._limit = characters
        self._files: OrderedDict[Path, _Known[Index]] = OrderedDict()
        self._size = 0

    def parsed(self, file: Path) -> ParsedFile[Index] | None:
        """The tree of a file; None for one that cannot be read or is no Python."""
        return self._known(file).parsed

    def told(self, file: Path) -> tuple[Told, Facts | None]:
        """What the answer to :meth:`parsed` rested on; of a library that is not recorded, the size alone."""
        known = self._known(file)
        return known.told, known.facts

    def _known(self, file: Path) -> _Known[Index]:
        if file in self._files:
            self._files.move_to_end(file)
            return self._files[file]
        found = self._files[file] = _parse(file, self._index, self.tree, self.bare, self._recorded)
        self._size += found.told.size
        return found

    def trim(self) -> None:
        """Lets go of what was used longest ago, down to the limit; nobody may be using what was handed out."""
        while self._size > self._limit and len(self._files) > 1:
            _, oldest = self._files.popitem(last=False)
            self._size -= oldest.told.size
            if oldest.parsed is not None:
                self._dissolve(oldest.parsed.index)


class Surroundings(Generic[Index]):
    """The files around one file. ``configured`` are the directories of the ``src`` setting; paths are absolute.

    ``name`` is how findings call a file. ``note`` is told of every fact that an answer rests on, each time: its kind
    (a field of :class:`devlint.source.asked.Asked`), what was asked, what was told. Files that are ``spoken_of``
    come from a library of their own: ``quoted``.
    """

    def __init__(
        self,
        library: Library[Index],
        name: Callable[[str], str],
        configured: tuple[Path, ...] = (),
        note: Callable[[str, Any, Any], None] = lambda kind, asked, told: None,
        quoted: Library[Index] | None = None,
        spoken_of: frozenset[str] = frozenset(),
    ) -> None:
        self._library = library
        self._quoted = quoted
        self._spoken_of = spoken_of
        self._name = name
        self._configured = configured
        self._note = note
        self._told: dict[Path, tuple[Told, Facts | None]] = {}
        self._finders: dict[Path, ModuleFinder] = {}
        self._rooted: set[str] = set()
        self.watched = False
        """Whether something was asked that the tree it is compared with may answer otherwise."""

    def forget(self) -> None:
        """Lets go of the finders, which hold these surroundings in turn."""
        self._finders.clear()

    def ask(self, file: Path) -> None:
        """Note that the answer depends on a file: on its content, and on where its project and its package begin."""
        self._ask(str(file))
        directory = os.path.dirname(file)
        self._note("rooted", directory, True)
        while directory not in self._rooted:
            self._rooted.add(directory)
            for marker in ("__init__.py", *PROJECT_MARKERS):
                self._ask(os.path.join(directory, marker))
            directory = os.path.dirname(directory)

    def _ask(self, path: str) -> None:
        earlier = self._library.tree.compared_with
        self.watched = self.watched or (earlier is not None and earlier.differs(path))

    def parsed(self, file: Path) -> ParsedFile[Index] | None:
        library = self._library
        if self._quoted is not None and str(file) in self._spoken_of:
            library = self._quoted
        found = library.parsed(file)
        self._told[file] = library.told(file)
        self.remind(file)
        if not library.bare:
            # What LibCST makes of a text is known of the whole of it only.
            self.rests_on(file, PROGRAM)
        return found

    def remind(self, file: Path) -> None:
        """An answer rests on a file that was parsed before."""
        self.ask(file)
        told, facts = self._told[file]
        self._note("parsed", str(file), told)
        if facts is not None:
            self._note("facts", str(file), facts)

    def rests_on(self, file: Path, part: str) -> None:
        """Note that a part of a file was looked at (:mod:`devlint.source.looks`)."""
        self._note("looked", (str(file), part), True)

    def locate(self, importer: Path, name: str) -> Path | None:
        """The file, or the directory of a package without ``__init__``, that a dotted module name means there."""
        finder = self._finders.get(importer)
        if finder is None:
            self.ask(importer)
            finder = ModuleFinder(importer, self._configured, self._library.tree, self._probe)
            self._finders[importer] = finder
        found = finder.locate(name)
        self._note("located", (str(importer.parent), name), None if found is None else str(found))
        return found

    def _probe(self, path: str) -> None:
        self._ask(path)
        self._note("probed", os.path.dirname(path), True)

    def only_used_inside(self, file: Path, name: str) -> bool:
        """Whether the file is in a package of which no other file has the word ``name``: it is not exported either."""
        found = self._only_used_inside(file, name)
        self._note("used_inside", (str(file), name), found)
        return found

    def _only_used_inside(self, file: Path, name: str) -> bool:
        self.ask(file)
        package = package_of(file, self._library.tree)
        if package is None:
            return False
        earlier = self._library.tree.compared_with
        changed = earlier.changed_files(str(package)) if earlier is not None else []
        trees = (self._library.tree, earlier)
        self.watched = self.watched or any(
            has_word(path, name, tree) for path in changed if path != str(file) for tree in trees if tree is not None
        )
        return not mentioned_elsewhere(package, file, name, self._library.tree)

    def is_package(self, module: Path) -> bool:
        """Whether a located module is a directory without ``__init__``."""
        found = self._library.tree.is_dir(str(module))
        self._note("probed", os.path.dirname(module), True)
        self._note("packages", str(module), found)
        return found

    def shown(self, file: Path) -> str:
        """What findings call a file."""
        return self._name(str(file))


def _parse(file: Path, index: MakeIndex[Index], files: Tree, bare: bool, recorded: bool) -> _Known[Index]:
    """A file's tree, and what that rests on if it is ``recorded``."""
    data = None
    try:
        data = files.read(str(file))
        source = decode(data)
    except (OSError, Unreadable):
        return _Known(None, Told(content_digest(data).hex() if data is not None else ""), None)
    program = program_of(source.text)
    where = path_in_project(file, files)
    found = _parsed_program(program, role_of(where, source.text), index, bare) if program is not None else None
    size = found.size if found is not None else 0
    if not recorded:
        return _Known(found, Told("", size=size), None)
    from devlint.source.facts import Facts

    facts = Facts(program) if found is not None and program is not None else None
    return _Known(found, Told(source.digest.hex(), str(where), size), facts)


def _parsed_program(program: Program, role: Role, index: MakeIndex[Index], bare: bool) -> ParsedFile[Index] | None:
    parts = parts_of(program.text, program.tree, program.outline, bare)
    parsed = parts.skeleton()
    if isinstance(parsed, Refusal):
        return None
    return ParsedFile(parsed, parts.parsed, index(parsed, program.outline, parts), role, len(program.text))


def parts_of(text: str, tree: ast.Module | None, outline: Outline | None, bare: bool) -> AnyParts:
    """A text by its parts: as bare nodes if so wanted and :mod:`ast` knows it, else as LibCST reads it."""
    if not bare or tree is None or outline is None:
        from devlint.source.parts import Parts

        return Parts(text, outline)
    from devlint.source.bare.parts import BareParts

    return BareParts(text, tree, outline)
