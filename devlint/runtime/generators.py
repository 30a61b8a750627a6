"""Generators, which PyTorch makes in C++: classes of our own in their place, which know where a program made them."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import torch

from devlint.runtime.frames import RawSpot, here
from devlint.runtime.patching import Patches

CGenerator = torch._C.Generator


class GeneratorType(type(CGenerator)):  # type: ignore[misc]
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, CGenerator)


def birth_of(generator: Any) -> RawSpot | None:
    """Where the program made a generator, if it did so while it was watched."""
    born: RawSpot | None = getattr(generator, "_born", None)
    return born


def follow(patches: Patches) -> None:
    """Have the generators of a real machine remember where they were made."""

    class Generator(CGenerator, metaclass=GeneratorType):
        _born: RawSpot | None = None

        def __new__(cls, device: Any = "cpu") -> Any:
            made = CGenerator.__new__(cls, device)  # type: ignore[call-arg]
            made._born = here(2)
            return made

        def __init__(self, device: Any = "cpu") -> None: ...

    Generator.__module__, Generator.__qualname__ = "torch", "Generator"
    rebind(patches, "Generator", CGenerator, Generator)


def rebind(patches: Patches, name: str, before: Any, after: Any) -> None:
    """Replace a name in torch and wherever else it was imported under the same name."""
    patches.set(torch, name, after)
    imported = len(sys.modules)
    for module in _holders.of(name, before):
        patches.set(module, name, after)
    patches.call(lambda: _put_back(name, before, after, imported))


class _Holders:
    """The modules that have a class of PyTorch under its name: looked for again only when something was imported, as
    there are thousands of modules and a machine is made for every call that a test makes."""

    def __init__(self) -> None:
        self._imported = 0
        self._found: list[ModuleType] = []

    def of(self, name: str, value: Any) -> list[ModuleType]:
        if self._imported != len(sys.modules):
            self._imported = len(sys.modules)
            self._found = [module for module in list(sys.modules.values()) if _holds(module, name, value)]
        return [module for module in self._found if vars(module).get(name) is value]


_holders = _Holders()


def _holds(module: ModuleType, name: str, value: Any) -> bool:
    names = getattr(module, "__dict__", {})
    owner = str(names.get("__name__", ""))
    return names.get(name) is value and owner.partition(".")[0] not in ("torch", "devlint")


def _put_back(name: str, before: Any, after: Any, imported: int) -> None:
    """Modules imported during the run hold the stand-in."""
    if len(sys.modules) == imported:
        return
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        if names.get(name) is after:
            setattr(module, name, before)
