"""Reading a library table: unknown words are refused, with the file and the row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from devlint.semantics.library_rows import (
    KINDS,
    OPTIONS,
    PLACES,
    TRANSFERS,
    WORDS,
    Anywhere,
    Effect,
    Keyword,
    Library,
    LibraryRow,
    Moves,
)

_OPERATION = frozenset(
    """
    parameters rule zero_dim zero_dim_sometimes steps scalar_is_operand order cpu_arguments free in_place result shape
    tuple sync tuple_with tuple_without reduced_by dtype clash scalar_clash tag basis
    """.split()
)


class BadRow(ValueError):
    """An invalid library table: the file, the row and what is wrong."""


def read_library(path: Path) -> Library:
    """One table. Raises BadRow with the names of the file and the row for a word that is not defined."""
    content = _content(path)
    _refuse_others(
        path.name, content, "library version rows packages patterns mirrors images_on_host data_on_host about".split()
    )
    for key in ("library", "version"):
        if not isinstance(content.get(key), str):
            raise BadRow(f'{path.name}: "{key}" is missing: the name of the distribution and the version that was read')
    rows: dict[str, LibraryRow] = {}
    for key, raw in content.get("rows", {}).items():
        found = read_row(path.name, key, raw)
        for name in (key, *raw.get("also", ())):
            if name in rows:
                raise BadRow(f"{path.name}: {name}: stands in two rows")
            rows[name] = found
    packages = {key: read_row(path.name, key, raw) for key, raw in content.get("packages", {}).items()}
    patterns = tuple(
        (_pattern(path.name, key), read_row(path.name, key, raw)) for key, raw in content.get("patterns", {}).items()
    )
    return Library(
        content["library"],
        content["version"],
        rows,
        packages,
        patterns,
        mirrors=content.get("mirrors", ""),
        images_on_host=content.get("images_on_host", False),
        data_on_host=content.get("data_on_host", False),
    )


_OF_ANYWHERE = (
    "about kinds kind_endings iterated_endings overloading contexts tensor_attributes host_attributes frames keywords"
).split()


def read_anywhere(path: Path) -> Anywhere:
    """The table of names that belong to no one library."""
    content = _content(path)
    _refuse_others(path.name, content, _OF_ANYWHERE)
    kinds = {name: k for k, names in content["kinds"].items() for name in names}
    endings = tuple((ending, k) for k, names in content["kind_endings"].items() for ending in names)
    for k in (*kinds.values(), *(k for _, k in endings)):
        _one_of(path.name, "kinds", "kind", k, KINDS)
    keywords = {}
    for keyword, raw in content["keywords"].items():
        methods = {name: read_effect(path.name, name, told) for name, told in raw.get("methods", {}).items()}
        keywords[keyword] = Keyword(raw["value"], read_effect(path.name, keyword, raw["call"]), methods)
    overloading, contexts = frozenset(content["overloading"]), frozenset(content["contexts"])
    attributes = frozenset(content["tensor_attributes"]), frozenset(content["host_attributes"])
    return Anywhere(
        kinds,
        endings,
        tuple(content["iterated_endings"]),
        overloading,
        contexts,
        *attributes,
        content["frames"],
        keywords,
    )


_FLAGS = ("takes_encodings", "takes_tensors", "takes_images", "functional", "number")
_NAMES = ("fields", "placed_hooks", "host_hooks", "gathering_hooks", "adds_numbers_unless")
_ROW = frozenset({"also", "kind", "call", "methods", "moves", "source", *_FLAGS, *_NAMES})


def read_row(file: str, name: str, raw: Any) -> LibraryRow:
    """One row. Its `source` names the module that was read."""
    if not isinstance(raw, dict):
        raise BadRow(f"{file}: {name}: a row is an object")
    _refuse_others(f"{file}: {name}", raw, _ROW)
    if not isinstance(raw.get("source"), str) or not raw["source"]:
        raise BadRow(f'{file}: {name}: "source" is missing: the module of the library that says so')
    for key in ("also", *_NAMES):
        if not _is_names(raw.get(key, [])):
            raise BadRow(f'{file}: {name}: "{key}" is a list of names')
    for key in _FLAGS:
        if not isinstance(raw.get(key, False), bool):
            raise BadRow(f'{file}: {name}: "{key}" is true or false')
    if "kind" in raw:
        _one_of(file, name, "kind", raw["kind"], KINDS)
    methods = {
        method: read_effect(file, f"{name}.{method}", told)
        for methods, told in raw.get("methods", {}).items()
        for method in methods.split()
    }
    return LibraryRow(
        name=name,
        kind=raw.get("kind"),
        effect=read_effect(file, name, raw["call"]) if "call" in raw else None,
        methods=methods,
        moves=tuple(_moves(file, name, one) for one in raw.get("moves", ())),
        fields=frozenset(raw.get("fields", ())),
        placed_hooks=frozenset(raw.get("placed_hooks", ())),
        host_hooks=frozenset(raw.get("host_hooks", ())),
        gathering_hooks=frozenset(raw.get("gathering_hooks", ())),
        adds_numbers_unless=frozenset(raw.get("adds_numbers_unless", ())),
        takes_encodings=raw.get("takes_encodings", False),
        takes_tensors=raw.get("takes_tensors", False),
        takes_images=raw.get("takes_images", False),
        functional=raw.get("functional", False),
        number=raw.get("number", False),
    )


_OPTION_TYPES: dict[str, type] = {
    **dict.fromkeys(("gives", "device", "argument", "place", "as"), str),
    **dict.fromkeys(("default", "first", "state", "map", "brings", "floats", "keeps"), bool),
    **dict.fromkeys(("unless", "follows", "fields", "differ", "only"), list),
    "position": int,
    "operation": dict,
}
_IN_WORDS = {str: "a string", bool: "true or false", list: "a list of names", int: "a number", dict: "an object"}


def read_effect(file: str, name: str, raw: Any) -> Effect:
    """An effect: its name alone, or an object of its name and options."""
    told = {"effect": raw} if isinstance(raw, str) else raw
    if not isinstance(told, dict) or not isinstance(told.get("effect"), str):
        raise BadRow(f'{file}: {name}: an effect is its name, or an object with "effect" and options')
    word = told["effect"]
    _one_of(file, name, "effect", word, OPTIONS)
    _refuse_others(f"{file}: {name}", told, {"effect", *OPTIONS[word]})
    for key, value in told.items():
        if key != "effect" and not isinstance(value, _OPTION_TYPES[key]):
            raise BadRow(f'{file}: {name}: "{key}" is {value!r}; it takes {_IN_WORDS[_OPTION_TYPES[key]]}')
    gives = tuple(told.get("gives", "tensor").split())
    for one in gives:
        if "." not in one:
            _one_of(file, name, "gives", one, WORDS)
    _one_of(file, name, "place", told.get("place", "nowhere"), PLACES)
    _refuse_others(f"{file}: {name}: operation", told.get("operation", {}), _OPERATION)
    return Effect(
        name=word,
        gives=gives,
        device=told.get("device", ""),
        position=told.get("position"),
        default=told.get("default", False),
        unless=frozenset(told.get("unless", ())),
        state=told.get("state"),
        first=told.get("first", False),
        argument=told.get("argument", ""),
        follows=tuple(told.get("follows", ())),
        keeps=told.get("keeps", False),
        fields=frozenset(told.get("fields", ())),
        differ=tuple(told.get("differ", ())),
        place=told.get("place", "nowhere"),
        only=tuple(told.get("only", ())),
        map=told.get("map", False),
        brings=told.get("brings", False),
        floats=told.get("floats", False),
        as_function=told.get("as", ""),
        operation=told.get("operation"),
    )


def _moves(file: str, name: str, raw: Any) -> Moves:
    if not isinstance(raw, dict) or not _is_names(raw.get("methods")):
        raise BadRow(f'{file}: {name}: "moves" is a list of objects with "methods" and "effect"')
    _refuse_others(f"{file}: {name}: moves", raw, ("methods", "effect", "discard_is_bug", "tag"))
    _one_of(file, name, "moves", raw.get("effect"), TRANSFERS)
    if not isinstance(raw.get("discard_is_bug"), bool):
        raise BadRow(f'{file}: {name}: "discard_is_bug" of "moves" is true or false')
    return Moves(frozenset(raw["methods"]), raw["effect"], raw["discard_is_bug"], raw.get("tag", "S"))


def _content(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except ValueError as error:
        raise BadRow(f"{path.name}: {error}") from error
    if not isinstance(content, dict):
        raise BadRow(f"{path.name}: a table is an object")
    return content


def _pattern(file: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise BadRow(f"{file}: {text}: {error}") from error


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _one_of(file: str, name: str, key: str, value: Any, known: Mapping[str, Any] | frozenset[str]) -> None:
    if value not in known:
        raise BadRow(f'{file}: {name}: no {key} "{value}"; there are {", ".join(sorted(known))}')


def _refuse_others(place: str, told: Mapping[str, Any], known: Iterable[str]) -> None:
    others = [key for key in told if key not in known]
    if others:
        raise BadRow(f'{place}: unknown key "{others[0]}"; known are {", ".join(sorted(known))}')
