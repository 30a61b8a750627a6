"""One row: its code run, and how that ended."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch

Outcome = Literal["ok", "error", "crashed", "hung", "skipped", "absent"]
"""`crashed`: the process died; `hung`: it was stopped at the limit; `skipped`: it needs a device that is not there;
`absent`: the running torch has no such operation."""


LONGEST = 300
"""Characters of an error's first line that are kept."""

READY = "\n"
"""The first line of a process that runs rows: torch is there, and the time of the first row begins."""


@dataclass(frozen=True)
class Row:
    """One line of rows.jsonl. `key` names the row for ever: it follows from the code. `gpus`: how many it needs."""

    key: str
    operation: str
    code: str
    group: str
    gpus: int


@dataclass(frozen=True)
class Ended:
    """How a row ended. `devices`: those of the tensors in the result, in order, each once."""

    key: str
    outcome: Outcome
    devices: tuple[str, ...] = ()
    exception: str = ""
    message: str = ""


def run(code: str, namespace: dict[str, Any]) -> Any:
    """The value of the last statement, None where that is no expression."""
    names = dict(namespace)
    *first, last = ast.parse(code).body
    exec(compile(ast.Module(first, []), "row", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "row", "eval"), names)
    exec(compile(ast.Module([last], []), "row", "exec"), names)
    return None


def end(row: Row, namespace: dict[str, Any], device: str) -> Ended:
    """Run a row; whatever it raises is its outcome.

    Waits for the device, so that an error is attributed to its own row.
    """
    if is_absent(row.operation):
        return Ended(row.key, "absent")
    torch.manual_seed(0)
    try:
        with torch.no_grad():
            result = run(row.code, namespace)
        if device == "cuda":
            torch.accelerator.synchronize()
        devices = tuple(dict.fromkeys(str(t.device) for t in tensors_in(result)))
    except Exception as error:
        return Ended(row.key, "error", (), type(error).__name__, told(error))
    return Ended(row.key, "ok", devices)


def told(error: Exception) -> str:
    """The beginning of an error: what follows lists registrations and frames, with paths of the machine."""
    return next((line for line in str(error).splitlines() if line.strip()), "")[:LONGEST]


def is_absent(operation: str) -> bool:
    """Whether the running torch lacks a function or method ("torch.add", "Tensor.add_"); other words are no names."""
    first, *rest = operation.split(".")
    if first not in ("torch", "Tensor"):
        return False
    found: Any = torch if first == "torch" else torch.Tensor
    for name in rest:
        found = getattr(found, name, None)
    return found is None


def poisons(ended: Ended) -> bool:
    """Whether the process is of no more use: after a CUDA error every call fails."""
    return ended.outcome == "error" and (ended.exception == "AcceleratorError" or "CUDA error" in ended.message)


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The tensors of a result: itself, or those of nested lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)
