"""What is kept of a program beyond one process: its outline and its skeleton.

Whoever imports a file reads its module level and few of its definitions. To parse the whole of it for that is most of
what a short run does. What is kept is addressed by the content of the file, so that it is never out of date, and plain:
names, numbers and text.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from devlint.records import dataclass
from devlint.source.decoding import Source
from devlint.source.gate import check_syntax
from devlint.source.outline import Definition, Import, Outline, OwnNames
from devlint.source.program import Program
from devlint.source.skeleton import skeleton_of


class Shelf(Protocol):
    """Where programs are kept, by the digest of their file's content. Shelves of the same programs are equal."""

    def __hash__(self) -> int: ...

    def get(self, digest: str) -> Any:
        """What :func:`plain` has made; None where there is nothing, or something that nobody has put there."""

    def put(self, digest: str, make: Callable[[], str | None]) -> None:
        """Keep what ``make`` gives, if that is possible and nothing is there yet."""


@dataclass(frozen=True, slots=True)
class KeptProgram:
    """A program of which the skeleton has been parsed."""

    text: str
    tree: ast.Module
    """Of the skeleton."""
    outline: Outline
    begins: list[int]
    """The lines of the skeleton at which the definitions begin."""


def plain(program: Program, source: Source) -> str | None:
    """What is kept of the program of a text, as JSON; None if that has no outline."""
    outline = program.outline
    if outline is None:
        return None
    skeleton = skeleton_of(program.text, outline.definitions)
    numbers = {line: number for number, line in reversed([*enumerate(skeleton.lines, 1)])}
    kept = {
        "digest": source.digest.hex(),
        "text": None if program.text == source.text else program.text,
        "skeleton": skeleton.text,
        "begins": [numbers[definition.first] for definition in outline.definitions],
        "imports": [[one.module, one.name, one.alias] for one in outline.imports],
        "mentions": outline.mentions,
        "direct": outline.direct,
        "defined": outline.defined,
        "sets_default": outline.sets_default,
        "rebound": sorted(outline.rebound),
        "definitions": [_row(definition) for definition in outline.definitions],
    }
    return json.dumps(kept, separators=(",", ":"))


def kept_program(found: Any, source: Source) -> KeptProgram | None:
    """The program of a text as it was kept; None if ``found`` is not that."""
    try:
        if found["digest"] != source.digest.hex():
            return None
        own = source.text if found["text"] is None else _text(found["text"])
        tree, _ = check_syntax(_text(found["skeleton"]))
        definitions = [_definition(number, row) for number, row in enumerate(found["definitions"])]
        begins = [_number(line) for line in found["begins"]]
        if tree is None or len(begins) != len(definitions):
            return None
        outline = Outline(
            imports=[_import(*row) for row in found["imports"]],
            mentions=_counter(found["mentions"]),
            direct=_counter(found["direct"]),
            defined=_counter(found["defined"]),
            rebound=set(_texts(found["rebound"])),
            definitions=definitions,
            sets_default=_flag(found["sets_default"]),
        )
        return KeptProgram(own, tree, outline, begins)
    except (TypeError, LookupError, ValueError):
        return None


def _row(one: Definition) -> list[Any]:
    own = one.own
    names = [sorted(each) for each in (own.mentioned, own.stored, own.registered, own.kept, one.private)]
    return [one.first, one.body, one.column, one.last, names, one.returns, one.yields, one.places]


def _definition(number: int, row: list[Any]) -> Definition:
    first, body, column, last, names, *signs = row
    if not 0 < _number(first) <= _number(body) <= _number(last) or _number(column) < 0:
        raise ValueError
    mentioned, stored, registered, kept, private = (frozenset(_texts(each)) for each in names)
    own = OwnNames(mentioned, stored, registered, kept)
    returns, yields, places = (sign is True for sign in signs)
    return Definition(number, first, body, column, last, own, returns, yields, places, private)


def _import(module: Any, name: Any, alias: Any) -> Import:
    return Import(None if module is None else _text(module), _text(name), None if alias is None else _text(alias))


# What is read is what was written, value by value: a file of JSON may hold anything.


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError
    return value


def _number(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise TypeError
    return value


def _texts(values: Any) -> list[str]:
    if type(values) is not list:
        raise TypeError
    return [_text(value) for value in values]


def _counter(values: Any) -> Counter[str]:
    if type(values) is not dict:
        raise TypeError
    return Counter({_text(name): _number(count) for name, count in values.items()})
