"""What the program asks torch for: transfers, factories, host reads and the checks PyTorch makes before dispatch."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from devlint.runtime.bodies import body_of
from devlint.runtime.simulated.autocasting import cast
from devlint.runtime.simulated.checks import check, check_generator, check_out, checked_functions
from devlint.runtime.simulated.factories import known_factories, make
from devlint.runtime.simulated.machine import Machine
from devlint.runtime.simulated.special import special_functions

Handler = Callable[[Machine, Any, Any, dict[str, Any]], Any]


class ClaimingMode(TorchFunctionMode):
    """Answers as the simulated machine where PyTorch would see the CPU; everything else runs as it is."""

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self.machine = machine
        self.special: dict[Any, Handler] = special_functions()
        self.factories = known_factories()
        self.checked = checked_functions()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        local = self.machine.local
        if any(not issubclass(kind, torch.Tensor) for kind in types):
            # What stands for a tensor and is none (a tracer's proxy) answers by itself, and is nowhere.
            return func(*args, **kwargs)
        if torch.is_autocast_enabled(self.machine.type):
            args, kwargs = cast(self.machine, func, args, kwargs)
        handler = self.special.get(func)
        if handler is not None:
            return handler(self.machine, func, args, kwargs)
        if type(func) is torch._ops.OpOverload and not any(isinstance(value, torch.Tensor) for value in args):
            # Part of what is running, as the other operators of a kernel that is made of them.
            return func(*args, **kwargs)
        factory = self.factories.get(func)
        if factory is not None:
            return make(self.machine, factory, func, args, dict(kwargs))
        checked = self.checked.get(func)
        if checked is not None:
            check(self.machine, checked, func, args, kwargs)
        if "out" in kwargs:
            check_out(self.machine, func, args, kwargs)
        if "generator" in kwargs:
            check_generator(self.machine, args, kwargs)
        before, inside = local.call, local.inside
        local.call = (*args, *kwargs.values()) if kwargs else args
        try:
            # A body that asks its base class comes here again under its own name: that is the C++ function.
            if type(func) is FunctionType and func is not inside:
                body = body_of(func)
                if body is not None:
                    local.inside = func
                    with self:
                        return body(*args, **kwargs)
            return func(*args, **kwargs)
        finally:
            local.call, local.inside = before, inside
