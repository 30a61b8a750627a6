"""What a model is called with, as it is written: a tensor to make, values from a file, a literal.

``float32[4,16]``, ``mask=bool[4]``; ``batch.pt``, ``ids=batch.npz:tokens``, ``*batch.pt``, ``**batch.pt``;
``causal=True``.
"""

from __future__ import annotations

import ast
import os
import pickle
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from devlint.runtime.inputs import BadEntry, Input, parse_input

if TYPE_CHECKING:
    import torch

Values = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments by position and by name."""

_FILE = re.compile(
    r"(?P<spread>\*{0,2})(?:(?P<name>[A-Za-z_]\w*)=)?(?P<path>.+?\.(?:pt|pth|bin|npz|npy))(?::(?P<key>.+))?"
)
_LITERAL = re.compile(r"(?:(?P<name>[A-Za-z_]\w*)\s*=)?(?P<value>.+)", re.DOTALL)
_TENSOR = re.compile(r"(?:[A-Za-z_]\w*=)?[a-z]+\d*\[[^\]'\"]*\](?:\{.*\})?")


@dataclass(frozen=True, slots=True)
class Literal:
    """A Python literal; ``name`` is a keyword or empty."""

    value: Any
    name: str = ""


@dataclass(frozen=True, slots=True)
class FromFile:
    """A file's value, or one of it by ``key``; ``spread`` is ``*`` or ``**`` where its values are the arguments."""

    path: str
    key: str = ""
    name: str = ""
    spread: str = ""


Given = Input | Literal | FromFile


def parse_given(text: str) -> Given:
    """One ``--input``. Raises BadEntry."""
    text = text.strip()
    if file := _FILE.fullmatch(text):
        found = FromFile(file["path"], file["key"] or "", file["name"] or "", file["spread"])
        if found.spread and found.name:
            raise BadEntry(f"the input `{text}`: what is spread out with {found.spread} has no name")
        if not os.path.isfile(found.path):
            raise BadEntry(f"the input `{text}`: there is no file {found.path}")
        return found
    if _TENSOR.fullmatch(text):
        return parse_input(text)
    literal = _LITERAL.fullmatch(text)
    try:
        if literal is None:
            raise ValueError
        return Literal(ast.literal_eval(literal["value"].strip()), literal["name"] or "")
    except (SyntaxError, ValueError):
        raise BadEntry(
            f"the input `{text}` is not like `float32[4,16]`, `int64[4]{{0..9}}`, `batch.pt:key` or `causal=True`"
        ) from None


def values_of(given: Given, generator: torch.Generator) -> Values:
    """The arguments that an input comes to. Raises BadEntry for a file that does not hold them."""
    if isinstance(given, Input):
        return _one(given.name, given.make(generator))
    if isinstance(given, Literal):
        return _one(given.name, given.value)
    value = _picked(given, _read(given.path))
    if given.spread == "**":
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise BadEntry(f"{given.path} holds {_kind(value)}: only a dictionary is spread out with **")
        return (), dict(value)
    if given.spread == "*":
        if not isinstance(value, (list, tuple)):
            raise BadEntry(f"{given.path} holds {_kind(value)}: only a list or a tuple is spread out with *")
        return tuple(value), {}
    return _one(given.name, value)


def _one(name: str, value: Any) -> Values:
    return ((), {name: value}) if name else ((value,), {})


def _picked(given: FromFile, held: Any) -> Any:
    if not given.key:
        lone = given.path.endswith(".npz") and not given.spread and len(held) == 1
        return next(iter(held.values())) if lone else held
    if isinstance(held, Mapping) and given.key in held:
        return held[given.key]
    if isinstance(held, (list, tuple)) and given.key.isdecimal() and int(given.key) < len(held):
        return held[int(given.key)]
    only = f", only {', '.join(map(str, held))}" if isinstance(held, Mapping) else f", it is {_kind(held)}"
    raise BadEntry(f"{given.path} holds no `{given.key}`{only}")


def _read(path: str) -> Any:
    """The content on the CPU. Nothing but tensors and plain containers is unpickled."""
    import torch

    try:
        if not path.endswith((".npz", ".npy")):
            return torch.load(path, map_location="cpu", weights_only=True)
        import numpy

        read = numpy.load(path, allow_pickle=False)
        if path.endswith(".npy"):
            return torch.from_numpy(read)
        return {name: torch.from_numpy(read[name]) for name in read.files}
    except pickle.UnpicklingError:
        raise BadEntry(f"{path} cannot be read: it holds more than tensors and plain containers") from None
    except Exception as error:
        said = str(error).strip().split("\n", 1)[0]
        raise BadEntry(f"{path} cannot be read: {type(error).__name__}{f': {said}' if said else ''}") from None


def _kind(value: Any) -> str:
    return f"a {type(value).__name__}"
