"""What is lifted besides modules: functions and methods that are named, or all that a package defines."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import torch
from torch import nn

Target = tuple[Any, str]
"""An owner, and the attribute under which it has the function."""

_ALL = ".*"
_NOT_CALLS = ({"to", "cuda", "cpu", "train", "eval", "zero_grad"} | set(vars(nn.Module))) - {"forward"}
"""Of a Module: how it is handled; a call of these computes nothing. ``forward`` may be called without its Module."""


class NoTarget(Exception):
    """A name that leads nowhere, with the reason."""


def targets_of(names: list[str], is_test: Callable[[str], bool] = lambda path: False) -> tuple[Target, ...]:
    """Of functions (`pkg.function`), methods (`Class.method`), and all in a package or module (`pkg.*`), wherever they
    were imported to. Of a package that has its tests inside, what the files ``is_test`` tells of define is left out.

    Raises NoTarget.
    """
    found: dict[tuple[int, str], Target] = {}
    for name in names:
        below = name.endswith(_ALL)
        for target in _targets_below(name.removesuffix(_ALL), is_test) if below else _named_targets(name):
            found.setdefault((id(target[0]), target[1]), target)
    return tuple(found.values())


def replaced(defined: Any, wrap: Callable[[Any], Any]) -> Any:
    """What stands for a function once it is wrapped, bound as it was."""
    if isinstance(defined, (staticmethod, classmethod)):
        return type(defined)(wrap(defined.__func__))
    return wrap(defined)


def _named_targets(name: str) -> Iterator[Target]:
    owner_name, _, attribute = name.rpartition(".")
    owners = [_owner(owner_name), *_classes(owner_name)]
    owners = [owner for owner in owners if owner is not None and attribute in vars(owner)]
    if not owners:
        raise NoTarget(f"{name} is neither an imported function nor a method of a class")
    yield from ((owner, attribute) for owner in owners)
    yield from _imported([vars(owner)[attribute] for owner in owners])


def _targets_below(name: str, is_test: Callable[[str], bool]) -> Iterator[Target]:
    """The functions that a package defines in what is imported of it, and the methods of its classes."""
    try:
        importlib.import_module(name)
    except ImportError as error:
        raise NoTarget(f"{name} cannot be imported: {error}") from None
    found = [each for module, each in list(sys.modules.items()) if f"{module}.".startswith(f"{name}.")]
    below = [module for module in found if not is_test(getattr(module, "__file__", None) or "")]
    own = [value for module in below for value in list(vars(module).values()) if _is_of(value, module)]
    yield from _imported([value for value in own if _is_call(value)])
    for cls in own:
        # What computes gradients is called by torch, on threads of its own.
        if isinstance(cls, type) and not issubclass(cls, torch.autograd.Function):
            yield from ((cls, attribute) for attribute in _methods(cls))


def _is_of(value: Any, module: ModuleType) -> bool:
    return isinstance(value, (type, FunctionType)) and value.__module__ == module.__name__


def _methods(cls: type) -> Iterator[str]:
    is_module = issubclass(cls, nn.Module)
    for attribute, value in vars(cls).items():
        if is_module and attribute in _NOT_CALLS and attribute != "__init__":
            continue  # a Module's call is lifted anyway, and what moves it is the program's business
        is_hidden = attribute.startswith("__") and attribute not in ("__call__", "__init__")
        if not is_hidden and _is_call(getattr(value, "__func__", value)):
            yield attribute


def is_building(target: Target) -> bool:
    """Whether it builds a Module, which is done on the CPU before the Module is moved."""
    owner, attribute = target
    return attribute == "__init__" and isinstance(owner, type) and issubclass(owner, nn.Module)


def _is_call(value: Any) -> bool:
    """Whether calling it does the work: what a generator or a coroutine does comes after its call."""
    later = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    return isinstance(value, FunctionType) and not any(kind(value) for kind in later)


def _imported(functions: list[Any]) -> Iterator[Target]:
    """The modules of Python that have these functions, under any name."""
    wanted = {id(function) for function in functions}
    for module in list(sys.modules.values()):
        for alias, value in list(getattr(module, "__dict__", {}).items()):
            if id(value) in wanted and isinstance(module, ModuleType):
                yield module, alias


def _owner(name: str) -> Any:
    """A module, or a class in one, that is imported already."""
    if name in sys.modules:
        return sys.modules[name]
    module, _, rest = name.rpartition(".")
    return getattr(sys.modules.get(module), rest, None) if module else None


def _classes(name: str) -> list[type]:
    found: list[type] = []
    level: list[type] = [nn.Module]
    while level:
        cls = level.pop()
        level += cls.__subclasses__()
        if cls.__name__ == name:
            found.append(cls)
    return found
