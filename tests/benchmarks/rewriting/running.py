"""Programs run on the CPU: before and after a rewriting they have to give the same."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from tests.benchmarks.rewriting.program import Program

FILES = "<{} of a program>"


def run(program: Program, beside: Mapping[str, str] | None = None) -> list[str]:
    """What each of its runs comes to, in words that are the same for like results, or the kind of its error."""
    import torch

    main = ModuleType(program.stem)
    others = {name.removesuffix(".py"): text for name, text in (beside or {}).items()}
    device, came_of = torch.device("cpu"), []
    with torch.random.fork_rng(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for name, text in others.items():
                sys.modules[name] = ModuleType(name)
                exec(compile(text, FILES.format(name), "exec"), sys.modules[name].__dict__)
            exec(compile(program.text, FILES.format("main"), "exec"), main.__dict__)
            for one in program.runs:
                torch.manual_seed(0)
                try:
                    given = eval(one, {"main": main, "torch": torch})(device)
                    came_of.append(_in_words(given))
                except Exception as error:
                    came_of.append(type(error).__name__)
        finally:
            for name in others:
                sys.modules.pop(name, None)
    return came_of


def _in_words(value: Any) -> str:
    import torch

    if isinstance(value, torch.Tensor):
        return f"{value.dtype} {value.tolist()}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}{[_in_words(one) for one in value]}"
    if isinstance(value, dict):
        return str({key: _in_words(one) for key, one in value.items()})
    return repr(value)
