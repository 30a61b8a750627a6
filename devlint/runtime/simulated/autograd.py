"""Backward passes: where the tensors belong that C++ makes there, and the engine's check of each gradient's device."""

from __future__ import annotations

from typing import Any

import torch

from devlint.runtime.patching import Patches
from devlint.runtime.simulated.checks import watched_apply
from devlint.runtime.simulated.machine import Machine


def install(machine: Machine, patches: Patches) -> None:
    true_run: Any = torch.autograd._engine_run_backward  # type: ignore[attr-defined]
    true_parse = torch._C._nn._parse_to

    def run(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        before = machine.local.call
        machine.local.call = outputs
        try:
            return true_run(outputs, *args, **kwargs)
        finally:
            machine.local.call = before

    def parse_to(*args: Any, **kwargs: Any) -> Any:
        """`Module.to`'s arguments; C++ reads an integer as an index of the accelerator, which it does not have."""
        if args and type(args[0]) is int:
            args = (machine.resolve(args[0]), *args[1:])
        if type(kwargs.get("device")) is int:
            kwargs["device"] = machine.resolve(kwargs["device"])
        return true_parse(*args, **kwargs)

    patches.set(torch.autograd, "_engine_run_backward", run)
    patches.set(torch._C._nn, "_parse_to", parse_to)
    apply = watched_apply(machine, vars(torch.autograd.Function)["apply"])
    patches.set(torch.autograd.Function, "apply", classmethod(apply))
