"""The judge before real calls: what the dispatcher is about to run, seen as operands of `devlint.semantics.meet`.

Both machines and the recorder ask here, so that one reading of a call decides everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import torch

from devlint.runtime.labels import CPU
from devlint.semantics import Clash, Dim, DType, Elements, Operand, Operation, Relation, Rule, Verdict, aten, meet

Tensor = torch.Tensor
DeviceOf: TypeAlias = Callable[[Any], torch.device]


@dataclass(frozen=True, slots=True)
class Meeting:
    """One call as the judge saw it: its tensors (and generators) with their roles, and the verdict."""

    operation: Operation
    values: tuple[Any, ...]
    roles: tuple[str, ...]
    devices: tuple[torch.device, ...]
    verdict: Verdict[torch.device]

    @property
    def clash(self) -> Clash[torch.device] | None:
        return self.verdict if isinstance(self.verdict, Clash) else None


@cache
def operation_of(func: torch._ops.OpOverload) -> Operation:
    """What the tables say of an overload. Operators outside aten have a check of their own, unknown here."""
    namespace, _, name = func._schema.name.partition("::")
    overload = func._schema.overload_name
    full = f"{name}.{overload}" if overload else name
    if namespace in ("aten", "prims"):
        return aten(full)
    return Operation(f"{namespace}.{full}", Rule.UNKNOWN)


@cache
def reads_on_host(func: torch._ops.OpOverload) -> bool:
    """Whether some argument must be on the CPU, so that even operands of one device have to be judged."""
    return bool(operation_of(func).cpu_arguments)


def arguments(func: torch._ops.OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The tensors of a call with the names of their parameters, the elements of lists one by one.

    Generators are left out: here they have lost the Python object that may claim a device.
    """
    names = [argument.name for argument in func._schema.arguments]
    for name, value in (*zip(names, args, strict=False), *kwargs.items()):
        if isinstance(value, Tensor):
            yield name, value
        elif isinstance(value, list | tuple):
            yield from ((name, item) for item in value if isinstance(item, Tensor))


def judge(func: torch._ops.OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any], device_of: DeviceOf) -> Meeting:
    """Ask the judge about one overload's call."""
    return judge_named(operation_of(func), list(arguments(func, args, kwargs)), device_of)


def judge_named(operation: Operation, named: Sequence[tuple[str, Any]], device_of: DeviceOf) -> Meeting:
    """Ask the judge about a call whose tensors are given with their roles."""
    devices = tuple(device_of(value) for _, value in named)
    operands = [operand(role, value, device) for (role, value), device in zip(named, devices, strict=True)]
    verdict = meet(operation, operands, relate, CPU)
    return Meeting(operation, tuple(v for _, v in named), tuple(r for r, _ in named), devices, verdict)


def relate(a: torch.device, b: torch.device) -> Relation:
    return Relation.SAME if a == b else Relation.DIFFERENT


def operand(role: str, value: Any, device: torch.device) -> Operand[torch.device]:
    """A tensor or generator as the judge sees it."""
    if not isinstance(value, Tensor):
        return Operand(role, device)
    dim = Dim.NONZERO if value.dim() else Dim.ZERO
    elements = Elements.ONE if value.numel() == 1 else Elements.MANY
    return Operand(role, device, dim, elements, _dtype(value.dtype))


def _dtype(dtype: torch.dtype) -> DType:
    if dtype is torch.bool:
        return DType.BOOL
    return DType.OTHER if dtype.is_floating_point or dtype.is_complex else DType.INT
