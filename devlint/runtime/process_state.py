"""What a program does to its whole process: the variable that hides devices, the default and the current device."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from devlint.runtime.observation import Observation

if TYPE_CHECKING:
    import torch

VARIABLE = "CUDA_VISIBLE_DEVICES"
_ALIKE = 0.9
_STARTS_CUDA = ("is_available", "init", "_lazy_init", "current_device", "set_device", "synchronize", "get_device_name")
"""Functions of ``torch.cuda`` after which the driver has read the variable (semantics/README.md, section 5)."""


def watch_variables(sink: Callable[[Observation], None]) -> None:
    """Tell when the variable is set too late, or under a name that nothing reads. For the rest of the process."""
    started = _first_touch_of_cuda()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "os.putenv":
            return
        name = os.fsdecode(arguments[0])
        if name == VARIABLE and started:
            said = f"{VARIABLE} is set after torch.cuda.{started[0]}() has started CUDA: it hides nothing any more"
        elif name != VARIABLE and difflib.SequenceMatcher(None, name, VARIABLE).ratio() > _ALIKE:
            said = f"{name} is a variable that CUDA does not read: it hides nothing"
        else:
            return
        from devlint.runtime.frames import spots

        sink(Observation("visible-devices", spots(sys._getframe(1)), message=said, detail=name))

    sys.addaudithook(hook)


def _first_touch_of_cuda() -> list[str]:
    """Filled with the name of the first function that starts CUDA, once it is called."""
    import torch

    touched: list[str] = []

    def noting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not touched:
                touched.append(name)
            return function(*args, **kwargs)

        return call

    for name in _STARTS_CUDA:
        if hasattr(torch.cuda, name):
            setattr(torch.cuda, name, noting(name, getattr(torch.cuda, name)))
    return touched


@dataclass(frozen=True, slots=True)
class ProcessDefaults:
    """Where tensors are made that name no device, and which accelerator is the current one."""

    default: str
    current: int

    @classmethod
    def now(cls, kind: str) -> ProcessDefaults:
        """``kind``: of the accelerator; MPS has one device, and no function that says which is the current one."""
        import torch

        current_device = getattr(getattr(torch, kind), "current_device", lambda: 0)
        return cls(str(torch.get_default_device()), current_device())

    def changes(self, under_test: torch.device) -> Iterator[Observation]:
        """What is different now, at no place: it is seen when all is over. The device under test may be current."""
        after = ProcessDefaults.now(under_test.type)
        if after.default != self.default:
            yield Observation("default-device", (), message=f"the default device is left at {after.default}")
        if after.current not in (self.current, under_test.index):
            message = f"the current device is left at {under_test.type}:{after.current}"
            yield Observation("default-device", (), message=message)
