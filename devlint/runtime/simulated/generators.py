"""Generators, which PyTorch makes in C++: stand-ins that know the simulated devices.

Every simulated device draws from the default CPU generator, so that a run has the values of the same run on the CPU.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import torch

from devlint.runtime.frames import RawSpot, here
from devlint.runtime.patching import Patches
from devlint.runtime.simulated.machine import Machine

_Generator = torch._C.Generator


class _GeneratorType(type(_Generator)):  # type: ignore[misc]
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _Generator)


def birth_of(generator: Any) -> RawSpot | None:
    """Where the program made a generator, if it did so while it was simulated."""
    born: RawSpot | None = getattr(generator, "_born", None)
    return born


def install(machine: Machine, patches: Patches) -> None:
    class Generator(_Generator, metaclass=_GeneratorType):
        """A CPU generator that claims a device, and knows where the program made it."""

        _place: torch.device
        _born: RawSpot | None = None

        def __new__(cls, device: Any = "cpu") -> Any:
            place = machine.resolve(device)
            if place.type not in (machine.type, "cpu"):
                return _Generator(place)
            made = _Generator.__new__(cls)
            made._place, made._born = place, here(2)
            return made

        def __init__(self, device: Any = "cpu") -> None: ...

        @property
        def device(self) -> torch.device:  # type: ignore[override]
            return self._place

        def __reduce__(self) -> Any:
            return _restored, (str(self.device), self.get_state())

    class Default(Generator):
        """`torch.cuda.default_generators[i]` and its like: the stream of random numbers all devices share."""

        def __new__(cls, device: Any) -> Any:
            made = _Generator.__new__(cls)
            made._place = device
            for name in ("get_state", "set_state", "manual_seed", "seed", "initial_seed"):
                setattr(made, name, getattr(torch.default_generator, name))
            return made

    Generator.__module__ = "torch"
    Generator.__qualname__ = "Generator"
    _rebind(patches, "Generator", _Generator, Generator)
    machine.generators = tuple(Default(place) for place in machine.devices)


def _restored(place: str, state: torch.Tensor) -> Any:
    made: Any = torch.Generator(place)
    made.set_state(state)
    return made


def _rebind(patches: Patches, name: str, before: Any, after: Any) -> None:
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
