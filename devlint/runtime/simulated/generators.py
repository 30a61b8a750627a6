"""Generators, which PyTorch makes in C++: stand-ins that know the simulated devices.

Every simulated device draws from the default CPU generator, so that a run has the values of the same run on the CPU.
"""

from __future__ import annotations

from typing import Any

import torch

from devlint.runtime.frames import RawSpot, here
from devlint.runtime.generators import CGenerator, GeneratorType, rebind
from devlint.runtime.patching import Patches
from devlint.runtime.simulated.machine import Machine


def install(machine: Machine, patches: Patches) -> None:
    class Generator(CGenerator, metaclass=GeneratorType):
        """A CPU generator that claims a device, and knows where the program made it."""

        _place: torch.device
        _born: RawSpot | None = None

        def __new__(cls, device: Any = "cpu") -> Any:
            place = machine.resolve(device)
            if place.type not in (machine.type, "cpu"):
                return CGenerator(place)
            made = CGenerator.__new__(cls)
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
            made = CGenerator.__new__(cls)
            made._place = device
            for name in ("get_state", "set_state", "manual_seed", "seed", "initial_seed"):
                setattr(made, name, getattr(torch.default_generator, name))
            return made

    Generator.__module__ = "torch"
    Generator.__qualname__ = "Generator"
    rebind(patches, "Generator", CGenerator, Generator)
    machine.generators = tuple(Default(place) for place in machine.devices)


def _restored(place: str, state: torch.Tensor) -> Any:
    made: Any = torch.Generator(place)
    made.set_state(state)
    return made
