"""The fingerprints of a file by its parts: where a part has the same one, other files read the same in it.

A part is closed under names: a name of the module level stands for every statement that binds it, and the names in
those are followed in turn. So whoever reads a file records where reading begins, not each step from there. Bodies of
definitions are not followed: each that is read is recorded by itself. Line numbers do not count, since no lint result
holds those of a file that it does not quote.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from functools import cached_property
from typing import Protocol

from devlint.source.dependency_parts import CLASS_NAMES, CLASSES, IMPORTS, MODULE, SIGNS
from devlint.source.fragments import Fragments, fragments_of
from devlint.source.normalized_text import NormalizedText
from devlint.source.outline import BINDERS, Import, Outline
from devlint.source.program import Program, program_of
from devlint.source.role import signs_of_roles

_WORD = re.compile(r"[^\W\d]\w*")


class Fingerprints(Protocol):
    def of(self, parts: Iterable[str]) -> str:
        """One fingerprint of these parts together."""


class DeferredFingerprints:
    """Fingerprints of the parts of a text that is parsed again for them: mostly they are known from an earlier run."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _found(self) -> PartFingerprints:
        program = program_of(self._text)
        assert program is not None, "the text was parsed before"
        return PartFingerprints(program)

    def of(self, parts: Iterable[str]) -> str:
        return self._found.of(parts)


class PartFingerprints:
    """Fingerprints of the parts of one program, each computed when it is asked for."""

    def __init__(self, program: Program) -> None:
        self.size = len(program.text)
        """Characters."""
        self._text = program.text
        self._normalized: NormalizedText | None = None
        self._fragments = Fragments()
        self._imports: dict[str, str] = {}
        self._outline = Outline()
        self._read: dict[int, tuple[bytes, frozenset[str]]] = {}
        self._known: dict[frozenset[str], str] = {}
        signs: tuple[object, ...] = signs_of_roles(program.text)
        if program.tree is not None and program.outline is not None:
            outline = self._outline = program.outline
            self._normalized = NormalizedText(program.text, program.tree)
            self._fragments = fragments_of(program.text, program.tree, outline)
            self._imports = dict(_import_target(one) for one in outline.imports if one.name != "*")
            stars = [one.module for one in outline.imports if one.name == "*"]
            signs = (*signs, outline.sets_default, stars)
        self._signs = repr(signs)
        self._names = frozenset((*self._fragments.binding, *self._imports, *self._outline.rebound))

    def of(self, parts: Iterable[str]) -> str:
        """One fingerprint of these parts together (:mod:`devlint.source.dependency_parts`)."""
        parts = frozenset(parts)
        found = self._known.get(parts)
        if found is None:
            found = self._known[parts] = self._of(parts)
        return found

    def _of(self, parts: frozenset[str]) -> str:
        texts = [self._signs.encode()]
        if self._normalized is None:
            return _digest([*texts, _bytes(self._text)]).hex()
        names: set[str] = set()
        numbers: set[int] = set()
        for part in sorted(parts):
            kind, _, name = part.partition(":")
            if kind == "name":
                names.add(name)
            elif kind == "body":
                numbers.update(self._bodies(name))
            elif part == MODULE:
                numbers.update(number for number, fragment in enumerate(self._fragments.all) if fragment.acts)
            elif part == IMPORTS:
                texts.append(_bytes(repr(sorted(self._imports.items()))))
            elif kind == "attribute":
                texts.append(_bytes(repr([one for one, own in self._fragments.own if name in own.mentioned])))
            elif kind == "calls":
                texts.append(_bytes(repr([one for one, private in self._fragments.private if name in private])))
            elif kind == "binding":
                names.add(name)
                texts.append(_bytes(repr(self._may_bind(name))))
            elif kind == "once":
                texts.append(_bytes(repr((name, self._outline.mentions.get(name, 0) == 1))))
            elif part == CLASS_NAMES:
                texts.append(_bytes(repr(self._class_names)))
            elif part == CLASSES:
                texts.append(_bytes(repr(self._class_names)))
                names.update(self._class_names)
                numbers.update(number for found in self._fragments.classes.values() for number in found)
            elif part != SIGNS:
                texts.append(_bytes(self._normalized.whole()))
        names, numbers = self._closure(names, numbers)
        texts += (self._fragment(number)[0] for number in sorted(numbers))
        leading = [
            (name, self._imports.get(name), name in self._outline.rebound) for name in sorted(names & self._names)
        ]
        return _digest([*texts, _bytes(repr([one for one in leading if one[1] or one[2]]))]).hex()

    def _may_bind(self, name: str) -> tuple[object, ...]:
        """How often a name is defined or called, since a class in a function counts as either, and what binds any."""
        outline = self._outline
        binds_any = not BINDERS.isdisjoint(outline.mentions)
        return name, outline.defined.get(name, 0), outline.direct.get(name, 0), binds_any

    @cached_property
    def _class_names(self) -> list[str]:
        """The names that :data:`CLASS_NAMES` speaks of, in an order of their own."""
        outermost = {name for name in self._fragments.bodies if "." not in name}
        return sorted(name for name in outermost.union(self._fragments.classes, self._imports) if name[:1].isupper())

    def _closure(self, names: set[str], numbers: set[int]) -> tuple[set[str], set[int]]:
        """The closure: all names and fragments that these refer to."""
        read: set[int] = set()
        while True:
            for number in numbers - read:
                names |= self._fragment(number)[1]
            read |= numbers
            reached = {number for name in names for number in self._fragments.binding.get(name, ())}
            if reached <= numbers:
                return names, numbers
            numbers = numbers | reached

    def _bodies(self, qualname: str) -> list[int]:
        """The fragments of the definitions of that name, else of those that it stands in."""
        while qualname and qualname not in self._fragments.bodies:
            qualname = qualname.rpartition(".")[0]
        return self._fragments.bodies.get(qualname, [])

    def _fragment(self, number: int) -> tuple[bytes, frozenset[str]]:
        """A digest of a fragment, and the names of the module level in it."""
        known = self._read.get(number)
        if known is None:
            assert self._normalized is not None
            fragment = self._fragments.all[number]
            text = "".join(self._normalized.lines(first, last) for first, last in fragment.lines)
            words = set(_WORD.findall(text))
            if not text.isascii():
                words |= {unicodedata.normalize("NFKC", word) for word in words}
            known = (_digest([_bytes(fragment.text), _bytes(text)]), frozenset(words & self._names))
            self._read[number] = known
        return known


def _import_target(one: Import) -> tuple[str, str]:
    """An imported name and its target."""
    if one.module is None and one.alias is None:
        first = one.name.partition(".")[0]
        return first, first
    return one.alias or one.name, f"{one.module or ''} {one.name}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _digest(texts: Iterable[bytes]) -> bytes:
    return hashlib.blake2b(b"\0".join(texts), digest_size=8).digest()
