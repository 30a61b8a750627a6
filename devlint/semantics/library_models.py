"""What libraries around PyTorch do with devices: `tables/libraries`, one file a library.

A file is read when a name of its library is first looked up. A row is found by the full name that a program uses, a
file by the first word or two of that name. The fields of a row are defined in :mod:`devlint.semantics.library_rows`,
the effects in `placement.calls.library_effects`. `CONTRIBUTING.md` shows how a row is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from devlint.semantics.library_reading import BadRow, read_anywhere, read_library
from devlint.semantics.library_rows import Anywhere, Effect, Library, LibraryRow, Moves
from devlint.semantics.tables import FOLDER

LIBRARIES = FOLDER / "libraries"


def row(name: str) -> LibraryRow | None:
    """The row of exactly this name, or of a class that matches a pattern of its library; None if there is none."""
    library = library_of(name)
    if library is None:
        return None
    found = library.rows.get(_mirrored(library, name))
    return found if found is not None else _by_pattern(name)


@cache
def package(name: str) -> LibraryRow | None:
    """The row for all names of a package that contains this name; the innermost package if there are several."""
    library = library_of(name)
    if library is None or not library.packages:
        return None
    above = _mirrored(library, name)
    while "." in above:
        above = above.rpartition(".")[0]
        if above in library.packages:
            return library.packages[above]
    return None


@cache
def effect(name: str) -> Effect | None:
    """The effect of calling this name: a function, a class, or a function of a class (`AutoModel.from_pretrained`)."""
    found = row(name)
    if found is not None:
        return found.effect
    owner, _, last = name.rpartition(".")
    of_class = row(owner) if last[:1].islower() and owner else None
    return of_class.methods.get(last) if of_class is not None else None


@cache
def kind(name: str) -> str | None:
    """The kind of a class that derives from this name; None if not known."""
    return listed_kind(name) or kind_by_name(name)


@cache
def listed_kind(name: str) -> str | None:
    """The kind of a class that derives from this one of a library; None where no table of a library lists it.

    A package all of whose calls work on the host, or on no tensors at all, defines no Modules.
    """
    found = row(name)
    if found is not None and found.kind is not None:
        return found.kind
    whole = package(name)
    if whole is None or whole.kind is not None or whole.effect is None:
        return whole.kind if whole is not None else None
    return "plain" if whole.effect.name in ("host", "plain") else None


@cache
def kind_by_name(name: str) -> str | None:
    """The kind of a class that derives from what is called so, whatever module it comes from; None if not known."""
    last = name.rsplit(".", 1)[-1]
    known = anywhere()
    return known.kinds.get(last) or next((k for ending, k in known.kind_endings if last.endswith(ending)), None)


@cache
def is_iterated(name: str) -> bool:
    """Whether a class of the project that is called so is what its name says only if it has an iterator."""
    return name.rsplit(".", 1)[-1].endswith(anywhere().iterated_endings)


@cache
def overloads_operators(name: str) -> bool:
    """Whether a name is imported from a package with classes whose operators take tensors and give what is none."""
    return name.partition(".")[0] in anywhere().overloading


@cache
def places_factories(name: str) -> bool:
    """Whether a bare factory inside `with name():` allocates on the device that the context was created for."""
    found = effect(name)
    return found is not None and found.name == "context" and found.place == "there"


@cache
def is_unplaced_context(name: str) -> bool:
    """Whether a bare factory inside `with name():` does not allocate on the CPU."""
    found = effect(name)
    if found is not None and found.name == "context":
        return found.place == "nowhere"
    return name.rsplit(".", 1)[-1] in anywhere().contexts


@cache
def moves(name: str, method: str) -> Moves | None:
    """What `object.method()` does to an object of this class; None when unknown."""
    found = row(name)
    return next((m for m in found.moves if method in m.methods), None) if found is not None else None


@cache
def operation(name: str) -> Mapping[str, Any] | None:
    """The operation row of a library function; None if there is none."""
    found = effect(name)
    return found.operation if found is not None else None


def hooks(bases: Iterable[str], is_lightning: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Methods that a class with these bases defines for a library to call: with placed tensors, and on the host.

    What derives from a ``LightningModule``, whatever path that is imported from, has the hooks of Lightning's own.
    """
    rows = [row(base) for base in (*bases, *(("lightning.LightningModule",) if is_lightning else ()))]
    found = [r for r in rows if r is not None]
    nothing: frozenset[str] = frozenset()
    return nothing.union(*(r.placed_hooks for r in found)), nothing.union(*(r.host_hooks for r in found))


def gathered_from(bases: Iterable[str], is_lightning: bool, hook: str) -> str | None:
    """The method of whose results the library hands a list to a hook that a class with these bases defines."""
    rows = [row(base) for base in (*bases, *(("lightning.LightningModule",) if is_lightning else ()))]
    pairs = (pair.partition("=") for found in rows if found is not None for pair in found.gathering_hooks)
    return next((step for name, _, step in pairs if name == hook), None)


def adds_numbers_unless(class_name: str) -> frozenset[str]:
    """The keywords without which a module adds to its tensors one number that it makes of its inputs."""
    found = row(class_name) if class_name else None
    return frozenset() if found is None else found.adds_numbers_unless


def takes_tensors(class_name: str) -> bool:
    """Whether the tensors that a Module of this class is called with meet its parameters and buffers."""
    found = row(class_name) if class_name else None
    return found is not None and found.takes_tensors


@cache
def images_on_host(name: str) -> bool:
    """Whether the library handles images only as arrays on the host."""
    library = library_of(name)
    return library is not None and library.images_on_host


@cache
def data_on_host(name: str) -> bool:
    """Whether who calls this function prepares data on the host: it is of a library that reads data sets."""
    library = library_of(name)
    return library is not None and library.data_on_host


@cache
def is_number(name: str) -> bool:
    """Whether this name is a constant of a library that is a number."""
    found = row(name)
    return found is not None and found.number


@cache
def is_functional(name: str) -> bool:
    """Whether the function is named as those of `torch.nn.functional` are."""
    found = package(name)
    return found is not None and found.functional


def takes_images(name: str) -> bool:
    """Whether this function accepts a PIL image in place of a tensor."""
    found = package(name)
    return found is not None and found.takes_images


@cache
def _by_pattern(name: str) -> LibraryRow | None:
    library = library_of(name)
    if library is None:
        return None
    plain = _mirrored(library, name)
    return next((replace(r, name=plain) for pattern, r in library.patterns if pattern.fullmatch(plain)), None)


def library_of(name: str) -> Library | None:
    """The table that a full name belongs to, by its first two words or the first; None where there is none."""
    first, dot, rest = name.partition(".")
    inner = f"{first}{dot}{rest.partition('.')[0]}"
    if inner not in _names() and first not in _names() and first in _words_of_python():
        return _library(_PYTHON)
    return _library(inner if inner in _names() else first)


_PYTHON = "python"
"""The table of what Python itself brings: built-in functions, and the modules of its standard library."""


@cache
def _words_of_python() -> frozenset[str]:
    """The first words of the names in that table."""
    library = _library(_PYTHON)
    names = (*library.rows, *library.packages) if library is not None else ()
    return frozenset(name.partition(".")[0] for name in names)


@cache
def _library(package_name: str) -> Library | None:
    if package_name not in _names():
        return None
    found = read_library(LIBRARIES / f"{package_name}.json")
    if found.mirrors:
        other = library_of(found.mirrors)
        if other is None:
            raise BadRow(f"{package_name}.json: mirrors {found.mirrors}, of which there is no table")
        return replace(other, name=found.name, version=found.version, package=package_name, mirrors=found.mirrors)
    return found


def _mirrored(library: Library, name: str) -> str:
    return library.mirrors + name.removeprefix(library.package) if library.mirrors else name


@cache
def _names() -> frozenset[str]:
    return frozenset(file.removesuffix(".json") for file in os.listdir(LIBRARIES)) - {_ANYWHERE.removesuffix(".json")}


_ANYWHERE = "_anywhere.json"


@cache
def anywhere() -> Anywhere:
    """The names that mean the same in every package."""
    return read_anywhere(LIBRARIES / _ANYWHERE)


def all_libraries() -> Iterator[Library]:
    """Every table, read and checked."""
    for name in sorted(_names()):
        found = _library(name)
        assert found is not None
        yield found
