"""Names of the device that come out of a lifted call: the program knows them as the CPU.

A simulated machine ends with the call, so that nobody outside can use what names it, whichever of its devices that is:
``torch.device("cuda" if torch.cuda.is_available() else "cpu")`` is the CPU where the test asks for it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from devlint.runtime.labels import CPU
from devlint.runtime.lifting.reachable import devices_kept, moves_by_itself
from devlint.runtime.placements import ACCELERATORS

_NAME = re.compile(rf"(?:{'|'.join(ACCELERATORS)})(:\d)?")
"""What a function that chooses a device returns, if it returns a text."""

Home = Callable[[Any], Any]
"""Gives the CPU for a name of the device, and anything else as it is."""


def home_of(device: torch.device, simulated: bool) -> Home:
    """For the device of a lifted call."""

    def home(value: Any) -> Any:
        if isinstance(value, torch.device):
            return CPU if value == device or (simulated and value.type == device.type) else value
        # Of texts only the full name is sure to be one of a device, and of this run.
        return "cpu" if value == str(device) else value

    return home


def brought_back(result: Any, home: Home) -> Any:
    """The result with devices named as the program knows them. Its tensors are on the CPU as they always were."""
    if isinstance(result, torch.Tensor):
        return result
    if isinstance(result, torch.device):
        return home(result)
    if isinstance(result, str):
        return "cpu" if _NAME.fullmatch(result) and home(torch.device(result)) == CPU else result
    leaves, spec = pytree.tree_flatten(result)
    found = [home(leaf) for leaf in leaves]
    return result if all(map(_is_same, leaves, found)) else pytree.tree_unflatten(found, spec)


def _is_same(before: Any, after: Any) -> bool:
    return before is after


def devices_back(modules: Iterable[nn.Module], home: Home) -> None:
    """No device of the simulation outlives it on a module."""
    for part in (part for module in modules for part in module.modules()):
        for name, value in vars(part).items():
            if isinstance(value, torch.device):
                vars(part)[name] = home(value)


@contextlib.contextmanager
def devices_of_movers(modules: list[nn.Module], before: torch.device, after: torch.device) -> Iterator[None]:
    """A class with its own way of moving keeps its own idea of the device up to date."""
    changed = [
        (part, name)
        for module in modules
        for part in module.modules()
        if moves_by_itself(part)
        for name, value in vars(part).items()
        if isinstance(value, torch.device) and value == before
    ]
    for part, name in changed:
        vars(part)[name] = after
    try:
        yield
    finally:
        for part, name in changed:
            if vars(part).get(name) == after:
                vars(part)[name] = before


@contextlib.contextmanager
def devices_of_holders(holders: list[dict[str, Any]], before: torch.device, after: torch.device) -> Iterator[None]:
    """An object that is no Module makes its tensors where it was told to: there, as all that it holds."""
    changed = [(held, name, held[name]) for held in holders for name in devices_kept(held, before)]
    for held, name, told in changed:
        held[name] = after if isinstance(told, torch.device) else str(after)
    try:
        yield
    finally:
        for held, name, told in changed:
            if held.get(name) in (after, str(after)):
                held[name] = told
