"""Arguments for a constructor nobody said anything about: by names and types, or as the program itself gives them."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import re
import sys
import typing
from collections.abc import Iterator
from typing import Any

from devlint.runtime.written_calls import Call, constructor_calls

MOST_CALLS = 5
"""Written calls that are tried."""

_SIZE = 8
_NUMBERS = (
    (re.compile(r"kernel|window|patch"), 3),
    (re.compile(r"stride|dilation|groups|padding"), 1),
    (re.compile(r"layers|depth|blocks|heads|stages|repeats|experts"), 2),
    (re.compile(r"dim|size|features|channels|hidden|width|height|vocab|classes|units|embed|num_|n_|^n$|length"), _SIZE),
)
_CONFIGURATION = re.compile(r"^(config|cfg|conf|args|hparams|params|opts?|options|settings)$|_(config|cfg|args)$")
_SIZES = re.compile(r"(list|sequence|tuple|iterable)\[int(, *(\.\.\.|int))?\]", re.IGNORECASE)
"""Annotations for several sizes."""
_MISSING = re.compile(r"missing \d+ required (?:keyword-only|positional) arguments?: (.*)")
_DEPTH = 3


class CannotBuild(Exception):
    """Why something is not built, in words."""


def calls_of(cls: type[Any]) -> Iterator[Call]:
    """Arguments to try, likely and small ones first. Raises CannotBuild after the last if the first could not be."""
    refused: CannotBuild | None = None
    try:
        yield (), arguments_of(cls)
    except CannotBuild as error:
        refused = error
    yield from itertools.islice(constructor_calls(cls), MOST_CALLS)
    if refused is not None:
        raise refused


def more_arguments(cls: type[Any], error: BaseException | None) -> dict[str, Any]:
    """What a constructor hands on by ``**kwargs`` and another one misses, by its name; none where that says nothing."""
    missing = _MISSING.search(str(error)) if isinstance(error, TypeError) else None
    parameters = inspect.signature(cls.__init__).parameters.values()
    if missing is None or not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return {}
    try:
        return {name: _argument(cls, name, inspect.Parameter.empty, 0) for name in re.findall(r"'(\w+)'", missing[1])}
    except CannotBuild:
        return {}


def arguments_of(cls: type[Any], depth: int = _DEPTH) -> dict[str, Any]:
    """What the constructor requires, by names and types. Raises CannotBuild."""
    types = _types(cls)
    return {
        name: _argument(cls, name, types.get(name, parameter.annotation), depth)
        for name, parameter in required(cls.__init__)
    }


def required(function: Any, first: int = 1) -> list[tuple[str, inspect.Parameter]]:
    """The parameters of a method that have no default, without ``self``; of a function, from the ``first``, all."""
    parameters = list(inspect.signature(function).parameters.items())[first:]
    return [
        (name, parameter)
        for name, parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]


def annotation_of(parameter: inspect.Parameter) -> str:
    """The name of a plain type, or the text of another; empty for none."""
    return _named(parameter.annotation)


def _named(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _types(cls: type[Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls.__init__)
    except Exception:  # names that only a type checker imports
        return {}


def _argument(cls: type[Any], name: str, annotation: Any, depth: int) -> Any:
    kind = _named(annotation)
    if kind in ("float", "bool"):
        return 0.1 if kind == "float" else False
    if kind in ("int", ""):
        for pattern, number in _NUMBERS:
            if pattern.search(name):
                return number
        if kind == "int":
            return _SIZE
    if _SIZES.fullmatch(kind.replace("typing.", "")) or typing.get_args(annotation)[:1] == (int,):
        return [_SIZE, _SIZE]
    if type(None) in typing.get_args(annotation):
        return None
    wanted = annotation if isinstance(annotation, type) and kind else _configuration(cls, name)
    if wanted is None or wanted.__module__ in ("builtins", "torch") or depth == 0:
        raise CannotBuild(f"its constructor needs `{name}`")
    try:
        return wanted(**arguments_of(wanted, depth - 1))
    except CannotBuild as error:
        raise CannotBuild(f"its constructor needs `{name}`, a {wanted.__name__}: {error}") from None
    except Exception as error:
        why = str(error).strip().split("\n", 1)[0]
        raise CannotBuild(f"its constructor needs `{name}`, and {wanted.__name__}() raises {why}") from None


def _configuration(cls: type[Any], name: str) -> type[Any] | None:
    """The one dataclass of the class's file that a parameter called ``config`` can be about."""
    if not _CONFIGURATION.search(name):
        return None
    known = {
        id(value): value
        for value in vars(sys.modules[cls.__module__]).values()
        if isinstance(value, type) and dataclasses.is_dataclass(value)
    }
    return next(iter(known.values())) if len(known) == 1 else None
