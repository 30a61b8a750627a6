"""Where a 0-dim CPU tensor may stand beside tensors elsewhere: TensorIterator's gate, measured without a GPU.

With torch's Python meta registrations removed, `meta` tensors reach the C++ structured meta functions, where `meta`
plays the part of the accelerator. The removal is private API and cannot be undone, so this module runs as a script in
a process of its own: aten names in on stdin, a JSON object {name: [argument, ...]} out.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from typing import Any


def measure(names: Iterable[str]) -> dict[str, list[str]]:
    """For each functional overload, the arguments that may be a 0-dim CPU tensor; absent where no call succeeded."""
    done = subprocess.run(
        [sys.executable, "-m", __name__], input="\n".join(names), capture_output=True, text=True, check=True
    )
    measured: dict[str, list[str]] = json.loads(done.stdout)
    return measured


def _measure_one(name: str) -> list[str] | None:
    import torch

    base, _, overload = name.partition(".")
    op = getattr(getattr(torch.ops.aten, base), overload or "default")
    positions = [a.name for a in op._schema.arguments if str(a.type) == "Tensor"]
    for dtype in (torch.float32, torch.int64, torch.bool):
        if _runs(op, None, dtype):
            return [p for p in positions if _runs(op, p, dtype)]
    return None


def _runs(op: Any, scalar: str | None, dtype: Any) -> bool:
    """Whether `op` accepts meta tensors, with a 0-dim CPU tensor at the argument `scalar`."""
    import torch

    arguments: list[Any] = []
    for argument in op._schema.arguments:
        if argument.kwarg_only or argument.has_default_value():
            break
        if str(argument.type) == "Tensor":
            on_cpu = argument.name == scalar
            arguments.append(torch.ones((), dtype=dtype) if on_cpu else torch.ones(2, dtype=dtype, device="meta"))
        else:
            arguments.append("none" if str(argument.type) == "Optional[str]" else 1)
    keywords = {"rounding_mode": None} if "rounding_mode" in str(op._schema) else {}
    try:
        op(*arguments, **keywords)
    except (RuntimeError, IndexError):
        return False
    return True


def _main() -> None:
    import torch._meta_registrations as registrations

    registrations._meta_lib_dont_use_me_use_register_meta._destroy()  # type: ignore[no-untyped-call]
    names = sys.stdin.read().split()
    answers = {name: _measure_one(name) for name in names}
    json.dump({name: found for name, found in answers.items() if found is not None}, sys.stdout)


if __name__ == "__main__":
    _main()
