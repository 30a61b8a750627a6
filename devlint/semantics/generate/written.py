"""Public functions torch writes in Python, and their parameters read from the signature.

A parameter holds tensors when its annotation says so, or when a sample call passes a tensor there.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import torch
import torch.masked
import torch.nn.functional
import torch.nn.init
import torch.nn.utils.rnn

from devlint.semantics.generate.names import lookup
from devlint.semantics.generate.samples import Sample
from devlint.semantics.operation import Parameter
from devlint.semantics.record.row import tensors_in

TORCH = [
    *("atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_tensors", "cartesian_prod", "cdist"),
    *("chain_matmul", "einsum", "lobpcg", "lu", "meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank"),
    *("tensordot", "unique", "unique_consecutive", "unravel_index"),
]
METHODS = ["norm", "split", "stft", "istft", "unflatten", "unique", "unique_consecutive", "to_sparse_coo"]
RNN = [
    *("pad_sequence", "pack_padded_sequence", "pad_packed_sequence"),
    *("pack_sequence", "unpad_sequence", "unpack_sequence"),
]
MASKED = [name for name in torch.masked.__all__ if name.islower() and "masked_tensor" not in name]
NO_FUNCTIONS = ["assert_int_or_pair", "boolean_dispatch", "handle_torch_function"]
POOLS = [f"{kind}_pool{d}d" for kind in ("max", "adaptive_max", "fractional_max") for d in (1, 2, 3)]


def written_in_python() -> Iterator[str]:
    """Full names, each once."""
    functional = torch.nn.functional
    for name in sorted(set(dir(functional)) | set(POOLS)):
        found = getattr(functional, name, None)
        if inspect.isfunction(found) and not name.startswith("_") and name not in NO_FUNCTIONS:
            yield f"torch.nn.functional.{name}"
    yield from (f"torch.{name}" for name in TORCH)
    yield from (f"Tensor.{name}" for name in METHODS)
    yield from (f"torch.nn.utils.rnn.{name}" for name in RNN)
    yield from (f"torch.masked.{name}" for name in MASKED)
    yield from (f"torch.nn.init.{name}" for name in sorted(dir(torch.nn.init)) if name.endswith("_") and name[0] != "_")


def parameters(name: str, samples: Sequence[Sample]) -> tuple[Parameter, ...]:
    """The parameters of a Python function; `*tensors` is one parameter that holds a list."""
    target = lookup(name)
    short = name.rsplit(".", 1)[-1]
    if short in POOLS:
        target = lookup(f"{name}_with_indices")
    assert callable(target), name
    found = []
    for position, parameter in enumerate(inspect.signature(target).parameters.values()):
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        kind = _kind(str(parameter.annotation), parameter.kind is parameter.VAR_POSITIONAL)
        if kind == "other":
            kind = _from_samples(position, parameter.name, samples)
        found.append(Parameter(parameter.name, kind, parameter.kind is parameter.KEYWORD_ONLY))
    return tuple(_method_self(name, found))


def _kind(annotation: str, variadic: bool) -> Literal["tensor", "tensors", "other"]:
    lower = annotation.lower()
    if "tensor" not in lower or "callable" in lower:
        return "other"
    many = any(word in lower for word in ("list[tensor", "list[torch", "sequence", "tuple[tensor", "iterable"))
    return "tensors" if many or variadic else "tensor"


def _from_samples(position: int, name: str, samples: Sequence[Sample]) -> Literal["tensor", "tensors", "other"]:
    values: list[Any] = [s.args[position] for s in samples if position < len(s.args)]
    values += [s.kwargs[name] for s in samples if name in s.kwargs]
    if any(isinstance(v, torch.Tensor) for v in values):
        return "tensor"
    return "tensors" if any(True for v in values for _ in tensors_in(v)) else "other"


def _method_self(name: str, found: list[Parameter]) -> list[Parameter]:
    if name.startswith("Tensor.") and found[0].name == "self":
        return [Parameter("self", "tensor"), *found[1:]]
    return found
