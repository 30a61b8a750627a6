"""What is run: a function that builds, a class with inputs, a script, or whatever can be built unasked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from devlint.runtime.given import parse_given
from devlint.runtime.inputs import BadEntry, parse_arguments

KINDS = ("entry", "model", "script", "auto")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to run. ``target`` is ``pkg.mod:name``, for a script its path."""

    kind: str
    target: str
    init: str = ""
    inputs: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    root: str = ""
    """A directory from which ``target`` is imported, besides the working directory."""

    @property
    def name(self) -> str:
        return self.target

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Entry:
        return cls(**{**fields, "inputs": tuple(fields["inputs"]), "arguments": tuple(fields["arguments"])})


def built(target: str) -> Entry:
    """``--entry pkg.mod:build``. Raises BadEntry."""
    return Entry("entry", _dotted(target, "--entry"))


def model(target: str, init: str = "", inputs: Iterable[str] = ()) -> Entry:
    """``--model pkg.mod:Net --init 'hidden=8' --input 'float32[4,16]'``. Raises BadEntry."""
    entry = Entry("model", _dotted(target, "--model"), init, tuple(inputs))
    parse_arguments(init)
    for text in entry.inputs:
        parse_given(text)
    if not entry.inputs:
        raise BadEntry(f"--model {target}: say what it is called with, as in --input 'float32[4,16]'")
    return entry


def script(path: str, arguments: Iterable[str] = ()) -> Entry:
    """``--script train.py -- --epochs 1``."""
    return Entry("script", path, arguments=tuple(arguments))


def configured(table: Mapping[str, Any], where: str) -> Entry:
    """One ``[[tool.devlint.entries]]``. ``where`` begins a complaint. Raises BadEntry."""
    named = [kind for kind in ("entry", "model", "script") if kind in table]
    if len(named) != 1:
        raise BadEntry(f"{where}an entry has one of `entry`, `model` and `script`")
    try:
        if named == ["entry"]:
            return built(table["entry"])
        if named == ["model"]:
            return model(table["model"], table.get("init", ""), table.get("inputs", ()))
        return script(table["script"], table.get("arguments", ()))
    except BadEntry as error:
        raise BadEntry(f"{where}{error}") from None


def _dotted(target: str, option: str) -> str:
    module, colon, name = target.partition(":")
    # A module that a script's file name makes need not be an identifier.
    if not colon or not all(module.split(".")) or not all(part.isidentifier() for part in name.split(".")):
        raise BadEntry(f"{option} {target}: expected module:name, as in pkg.train:build")
    return target
