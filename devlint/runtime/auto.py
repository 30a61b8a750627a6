"""Modules that can be built without being told how: small numbers for the constructor, inputs found by trying."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from devlint.runtime.inputs import Input, parse_input

if TYPE_CHECKING:
    from torch import nn

TRIALS = 400
"""Combinations of inputs that are tried before a module is given up."""

_SIZE = 8
_NUMBERS = (
    (re.compile(r"kernel|window|patch"), 3),
    (re.compile(r"stride|dilation|groups|padding"), 1),
    (re.compile(r"layers|depth|blocks|heads|stages|repeats|experts"), 2),
    (re.compile(r"dim|size|features|channels|hidden|width|height|vocab|classes|units|embed|num_|n_|^n$|length"), _SIZE),
)
_BY_KIND = {
    "float": ("float32[2,8]", "float32[2,4,8]", "float32[2,8,16,16]", "float32[2,8,16]", "float32[2,3,32,32]",
              "float32[2,1,28,28]", "float32[2]", "float32[8]", "float32[2,4,4]"),
    "integer": ("int64[2,4]", "int64[2]", "int64[4]"),
    "bool": ("bool[2,4]", "bool[2,4,4]", "bool[2,8]"),
}  # fmt: skip
_KIND_BY_NAME = (
    (re.compile(r"mask"), ("bool", "float", "integer")),
    (re.compile(r"ids|tokens|index|indices|labels?$|targets?$|lengths"), ("integer", "float", "bool")),
)


class CannotBuild(Exception):
    """Why a module is not built, in words."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a module is built and called."""

    arguments: dict[str, Any]
    inputs: tuple[Input | Any, ...]

    def build(self, cls: type[nn.Module]) -> tuple[nn.Module, tuple[Any, ...]]:
        """A fresh module and its inputs, both on the CPU."""
        import torch

        generator = torch.Generator().manual_seed(0)
        made = tuple(item.make(generator) if isinstance(item, Input) else item for item in self.inputs)
        return cls(**self.arguments), made


def recipe_for(cls: type[nn.Module]) -> Recipe:
    """A way to build and call ``cls`` that works on the CPU. Raises CannotBuild."""
    import torch

    arguments = {name: _argument(cls, name, parameter) for name, parameter in _required(cls.__init__)}
    failures: list[str] = []
    for inputs in itertools.islice(_inputs(cls), TRIALS):
        recipe = Recipe(arguments, inputs)
        try:
            model, made = recipe.build(cls)
        except Exception as error:
            given = ", ".join(f"{name}={value}" for name, value in arguments.items())
            raise CannotBuild(f"{cls.__name__}({given}) raises {_words(error)}") from None
        try:
            with torch.no_grad():
                model(*made)
        except Exception as error:
            failures.append(_words(error))
            continue
        return recipe
    why = f"; the first try raised {failures[0]}" if failures else ""
    raise CannotBuild(f"no inputs were found that its forward takes{why}")


def _argument(cls: type[Any], name: str, parameter: inspect.Parameter) -> Any:
    kind = _annotation(parameter)
    if kind == "float":
        return 0.1
    if kind == "bool":
        return False
    if kind in ("int", ""):
        for pattern, number in _NUMBERS:
            if pattern.search(name):
                return number
        if kind == "int":
            return _SIZE
    raise CannotBuild(f"its constructor needs `{name}`")


def _inputs(cls: type[nn.Module]) -> Iterator[tuple[Input | Any, ...]]:
    choices: list[list[Input | Any]] = []
    for name, parameter in _required(cls.forward):
        kind = _annotation(parameter)
        if kind in ("int", "float", "bool"):
            choices.append([{"int": 2, "float": 0.5, "bool": False}[kind]])
            continue
        order = next((kinds for pattern, kinds in _KIND_BY_NAME if pattern.search(name)), ("float", "integer", "bool"))
        choices.append([parse_input(text) for each in order for text in _BY_KIND[each]])
    # Inputs of one shape are likelier than others, so they are tried first.
    yield from (combined for combined in zip(*choices, strict=False)) if choices else [()]
    yield from itertools.product(*choices)


def _required(function: Any) -> list[tuple[str, inspect.Parameter]]:
    parameters = list(inspect.signature(function).parameters.items())[1:]
    return [
        (name, parameter)
        for name, parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]


def _annotation(parameter: inspect.Parameter) -> str:
    """The name of a plain type; empty for none."""
    annotation = parameter.annotation
    if annotation is parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _words(error: Exception) -> str:
    first = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
