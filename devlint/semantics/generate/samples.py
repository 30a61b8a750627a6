"""Calls to try: torch's own sample inputs (op_db), plus a few written here for functions it does not cover."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from unittest import mock

import torch
from torch.testing._internal import common_utils
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo import core

from devlint.semantics.generate.names import lookup
from devlint.semantics.record.row import tensors_in

MOST = 10
"""Samples tried for one function, spread over those op_db offers."""


@dataclass(frozen=True)
class Sample:
    """One call: what to call and its arguments by position and by name."""

    call: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def run(self) -> Any:
        return self.call(*self.args, **self.kwargs)

    def positions(self) -> list[int | str]:
        """The arguments that hold tensors, by position or name."""
        named: list[tuple[int | str, Any]] = [*enumerate(self.args), *self.kwargs.items()]
        return [key for key, value in named if any(True for _ in tensors_in(value))]

    def at(self, key: int | str) -> Any:
        return self.args[key] if isinstance(key, int) else self.kwargs[key]

    def with_argument(self, key: int | str, value: Any) -> Sample:
        if isinstance(key, int):
            return Sample(self.call, (*self.args[:key], value, *self.args[key + 1 :]), self.kwargs)
        return Sample(self.call, self.args, {**self.kwargs, key: value})


@dataclass(frozen=True)
class Sampled:
    """A function by its full name, with its samples. `direct`: the samples call it itself, argument for argument."""

    name: str
    direct: bool
    samples: list[Sample]


def sampled() -> Iterator[Sampled]:
    """All functions of op_db, aliases too."""
    warnings.simplefilter("ignore")
    plain = {info.name for info in op_db if not info.variant_test_name}
    for info in op_db:
        if info.variant_test_name and info.name in plain:
            continue
        plain.add(info.name)
        names = [info.name, *(alias.name for alias in info.aliases)]
        target = lookup(f"torch.{info.name}")
        samples = _samples(info)
        for name in names:
            if samples and lookup(f"torch.{name}") is not None:
                yield Sampled(f"torch.{name}", target is not None and info.op is target, samples)
            elif samples and hasattr(torch.Tensor, name):
                yield Sampled(f"Tensor.{name}", False, samples)


def inputs_of(info: Any) -> list[Any]:
    """The sample inputs that op_db makes for a function, on the CPU, in the plainest dtype it takes."""
    supported = info.supported_dtypes("cpu")
    wanted = (torch.float32, torch.int64, torch.complex64, torch.bool)
    dtype = next((d for d in wanted if d in supported), None)
    if dtype is None:
        return []
    torch.manual_seed(0)
    try:
        with _outside_of_tests(common_utils), _outside_of_tests(core):
            return list(info.sample_inputs("cpu", dtype, requires_grad=False))
    except (RuntimeError, TypeError):
        return []


def _outside_of_tests(module: ModuleType) -> AbstractContextManager[object]:
    """What would ask every frame of the stack whether a test of torch runs, which takes longer than all else."""
    return mock.patch.object(module, "extract_test_fn", return_value=None, create=True)


def _samples(info: Any) -> list[Sample]:
    found = inputs_of(info)
    step = max(1, len(found) // MOST)
    spread = [Sample(info.op, (s.input, *s.args), dict(s.kwargs)) for s in found[::step]]
    return [s for s in spread if all(_is_plain(t) for t in tensors_in([s.args, s.kwargs]))]


def _is_plain(tensor: torch.Tensor) -> bool:
    return tensor.layout is torch.strided and not tensor.is_nested and tensor.device.type == "cpu"
