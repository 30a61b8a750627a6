"""`torch.compile` and `torch.jit` run their functions eagerly where a run is watched, whatever the backend.

A simulated machine has no code to compile to, and neither Dynamo nor TorchScript asks the modes that record.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.autograd import forward_ad

from devlint.runtime.patching import Patches


def install(patches: Patches) -> None:
    """Dynamo is not imported for a program that compiles nothing."""
    true_compile = torch.compile
    stances: list[Any] = []

    def run_eagerly() -> None:
        if not stances:
            stance = torch.compiler.set_stance("force_eager")
            stance.__enter__()
            stances.append(stance)

    def leave() -> None:
        while stances:
            stances.pop().__exit__(None, None, None)

    def compile(*args: Any, **kwargs: Any) -> Any:
        run_eagerly()
        return true_compile(*args, **kwargs)

    patches.call(leave)
    _call_the_scripted(patches)
    _interpret_nothing(patches)
    patches.set(torch, "compile", compile)
    if "torch._dynamo" in sys.modules:
        run_eagerly()


def _call_the_scripted(patches: Patches) -> None:
    """What was scripted before, as when its file was imported, is called as the Python that it was scripted of.

    Source: ``torch.jit.script`` keeps that for Dynamo, in ``_torchdynamo_inline``; what was traced or loaded has none.
    """
    scripted: Any = torch.jit.ScriptFunction
    true_call: Any = scripted.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        function = getattr(self, "_torchdynamo_inline", None)
        return true_call(self, *args, **kwargs) if function is None else function(*args, **kwargs)

    patches.set(scripted, "__call__", call)


def _interpret_nothing(patches: Patches) -> None:
    """What is scripted or traced from now on stays Python: TorchScript asks no mode where a tensor goes."""
    switch: Any = torch.jit._state
    if not getattr(switch, "_enabled", False):
        return
    true_load: Any = vars(forward_ad)["_maybe_load_decompositions"]

    def load() -> None:
        """PyTorch scripts formulas of its own on the first forward-mode derivative."""
        switch.enable()
        try:
            true_load()
        finally:
            switch.disable()

    switch.disable()
    patches.call(switch.enable)
    patches.set(forward_ad, "_maybe_load_decompositions", load)
