"""Where users of the tested code may have put its parts: not always all of them on the accelerator.

By default everything that a lifted call can reach is there. A user may also have built an object and never moved it
(``devlint_stay = pkg.Metric``), have left one argument on the CPU (``devlint_stay = (mask)``), keep the data of a
loader on the accelerator, have made that the default device, have a model split over devices, or count on results being
where the input is.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import nn

from devlint.runtime.lifting.targets import Target

PLACEMENTS = ("data", "default", "split", "results")
"""What ``--devlint-placement`` takes."""

_ARGUMENT = re.compile(r"([\w.]*)\((\w+)\)")


class NotArranged(Exception):
    """A name that leads nowhere, with the reason."""


@dataclass(frozen=True)
class Arrangement:
    """``data``: what data sets and loaders hold is on the accelerator. ``default``: it is the default device.
    ``split``: what users' models hand back is not where they were given it (split.py).
    ``results``: what a function hands back is expected where its input is. ``classes``: their objects are where the
    program puts them, and not moved. ``arguments``: what is passed for these stays on the CPU; the end of a function's
    qualified name, or nothing for any, and the parameter."""

    data: bool = False
    default: bool = False
    split: bool = False
    results: bool = False
    classes: tuple[type, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()

    def is_unmoved(self, value: Any) -> bool:
        """Whether an object stays where it was built."""
        return isinstance(value, self.classes)

    def builds_unmoved(self, target: Target) -> bool:
        """Whether it is the constructor of such a class."""
        owner, name = target
        return name == "__init__" and isinstance(owner, type) and issubclass(owner, self.classes)

    def constructors(self) -> Iterator[Target]:
        """Those of the classes whose objects stay, and of all that derive from them."""
        level, seen = list(self.classes), set[type]()
        while level:
            cls = level.pop()
            if cls not in seen:
                seen.add(cls)
                level += cls.__subclasses__()
                if "__init__" in vars(cls):
                    yield cls, "__init__"

    def left(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """What is passed to a call and stays on the CPU."""
        names = self._names_for(function) if self.arguments else ()
        if not names:
            return []
        given = dict(kwargs)
        with contextlib.suppress(TypeError):  # the call will say so itself
            given |= inspect.signature(function).bind(*args, **kwargs).arguments
        return [given[name] for name in names if name in given]

    def _names_for(self, function: Callable[..., Any]) -> tuple[str, ...]:
        name = getattr(function, "__qualname__", "")
        return _names(self.arguments, f".{getattr(function, '__module__', '')}.{name}")

    def around(self, device: torch.device) -> AbstractContextManager[Any]:
        """What a lifted call is made in."""
        return torch.device(device) if self.default else contextlib.nullcontext()


TOGETHER = Arrangement()
"""All that a call can reach is on the accelerator."""


@cache
def _names(arguments: tuple[tuple[str, str], ...], function: str) -> tuple[str, ...]:
    return tuple(name for of, name in arguments if not of or function.endswith(f".{of}"))


def arranged(placements: list[str], stays: list[str]) -> Arrangement:
    """For the words of ``--devlint-placement`` and ``devlint_stay``. Raises NotArranged."""
    classes: list[type] = []
    arguments: list[tuple[str, str]] = []
    for word in (word for line in stays for word in line.split()):
        named = _ARGUMENT.fullmatch(word)
        if named:
            arguments.append((named[1], named[2]))
        else:
            classes.append(_class_of(word))
    chosen = {word: word in placements for word in PLACEMENTS}
    return Arrangement(**chosen, classes=tuple(classes), arguments=tuple(arguments))


def _class_of(name: str) -> type:
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute, None) if module else None
    except ImportError as error:
        raise NotArranged(f"{name}: {error}") from None
    if not isinstance(found, type):
        raise NotArranged(f"{name} is no class; an argument is written as function(argument), or as (argument)")
    return found


def is_initialised(module: nn.Module) -> bool:
    """Whether ``Module.__init__`` has run: what is being built has no parts yet."""
    return "_modules" in vars(module)
