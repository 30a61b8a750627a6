"""What of a file another one can rest on, by parts: two texts that agree in a part tell others the same of it.

A part comes with all that it speaks of inside of its file: a name of the module level is followed to every statement
that binds it, and the names in those are followed in turn. So who asks of a file says where he begins to look, and not
each step that he takes there. Bodies of definitions alone are not followed: of each one that is read it is said so.
Lines do not count, for whoever tells none of them.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

from devlint.source.dependency_parts import IMPORTS, MODULE, SIGNS
from devlint.source.outline import DEFAULTING, Import
from devlint.source.pieces import Pieces, pieces_of
from devlint.source.program import Program, Sense

_WORD = re.compile(r"[^\W\d]\w*")


class PartFingerprints:
    """A program by its parts, each read when it is asked for."""

    def __init__(self, program: Program) -> None:
        self.size = len(program.text)
        """Characters."""
        self._text = program.text
        self._sense: Sense | None = None
        self._pieces = Pieces()
        self._imports: dict[str, str] = {}
        self._rebound: frozenset[str] = frozenset()
        self._read: dict[int, tuple[bytes, frozenset[str]]] = {}
        self._told: dict[frozenset[str], str] = {}
        signs: tuple[object, ...] = (program.about_torch, program.is_main)
        if program.tree is not None and program.outline is not None:
            outline = program.outline
            self._sense = Sense(program.text, program.tree)
            self._pieces = pieces_of(program.text, program.tree, outline)
            self._imports = dict(_leading(one) for one in outline.imports if one.name != "*")
            self._rebound = frozenset(outline.rebound)
            stars = [one.module for one in outline.imports if one.name == "*"]
            signs = (*signs, not DEFAULTING.isdisjoint(outline.mentions), stars)
        self._signs = repr(signs)
        self._names = frozenset((*self._pieces.binding, *self._imports, *self._rebound))

    def of(self, parts: Iterable[str]) -> str:
        """Tells what these parts say from anything else that they could say."""
        parts = frozenset(parts)
        found = self._told.get(parts)
        if found is None:
            found = self._told[parts] = self._of(parts)
        return found

    def _of(self, parts: frozenset[str]) -> str:
        said = [self._signs.encode()]
        if self._sense is None:
            return _digest([*said, _bytes(self._text)]).hex()
        names: set[str] = set()
        numbers: set[int] = set()
        for part in sorted(parts):
            kind, _, name = part.partition(":")
            if kind == "name":
                names.add(name)
            elif kind == "body":
                numbers.update(self._around(name))
            elif part == MODULE:
                numbers.update(number for number, piece in enumerate(self._pieces.all) if piece.acts)
            elif part == IMPORTS:
                said.append(_bytes(repr(sorted(self._imports.items()))))
            elif part != SIGNS:
                said.append(_bytes(self._sense.whole()))
        names, numbers = self._followed(names, numbers)
        said += (self._piece(number)[0] for number in sorted(numbers))
        leading = [(name, self._imports.get(name), name in self._rebound) for name in sorted(names & self._names)]
        return _digest([*said, _bytes(repr([one for one in leading if one[1] or one[2]]))]).hex()

    def _followed(self, names: set[str], numbers: set[int]) -> tuple[set[str], set[int]]:
        """All names and pieces that these lead to."""
        read: set[int] = set()
        while True:
            for number in numbers - read:
                names |= self._piece(number)[1]
            read |= numbers
            reached = {number for name in names for number in self._pieces.binding.get(name, ())}
            if reached <= numbers:
                return names, numbers
            numbers = numbers | reached

    def _around(self, qualname: str) -> list[int]:
        """The pieces of the definitions of that name, else of those that it stands in."""
        while qualname and qualname not in self._pieces.bodies:
            qualname = qualname.rpartition(".")[0]
        return self._pieces.bodies.get(qualname, [])

    def _piece(self, number: int) -> tuple[bytes, frozenset[str]]:
        """A digest of what a piece says, and the names of the module level in it."""
        known = self._read.get(number)
        if known is None:
            assert self._sense is not None
            piece = self._pieces.all[number]
            text = "".join(self._sense.of(first, last) for first, last in piece.lines)
            words = set(_WORD.findall(text))
            if not text.isascii():
                words |= {unicodedata.normalize("NFKC", word) for word in words}
            known = (_digest([_bytes(piece.text), _bytes(text)]), frozenset(words & self._names))
            self._read[number] = known
        return known


def _leading(one: Import) -> tuple[str, str]:
    """A name that is imported and where it leads."""
    if one.module is None and one.alias is None:
        first = one.name.partition(".")[0]
        return first, first
    return one.alias or one.name, f"{one.module or ''} {one.name}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _digest(said: Iterable[bytes]) -> bytes:
    return hashlib.blake2b(b"\0".join(said), digest_size=8).digest()
