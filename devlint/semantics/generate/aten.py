"""aten overloads and the device check in front of each one's CUDA kernel, from torchgen's packaged yaml.

Source: `torchgen/packaged/ATen/native/native_functions.yaml` of the installed torch. No GPU and no source checkout.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torchgen  # type: ignore[import-untyped]
from torchgen.gen import parse_native_yaml  # type: ignore[import-untyped]
from torchgen.model import (  # type: ignore[import-untyped]
    BackendIndex,
    DeviceCheckType,
    DispatchKey,
    NativeFunction,
)


@dataclass(frozen=True)
class Overload:
    """One row of native_functions.yaml with its derived rule."""

    name: str
    function: NativeFunction
    rule: str
    tensors: tuple[str, ...]


def overloads() -> dict[str, Overload]:
    """Every hand-written overload, by its name without `aten::`."""
    packaged = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    parsed = parse_native_yaml(str(packaged / "native_functions.yaml"), str(packaged / "tags.yaml"))
    functions = {str(f.func.name): f for f in parsed.native_functions}
    cuda = parsed.backend_indices[DispatchKey.CUDA]
    return {
        name: Overload(name, f, _rule(f, functions, cuda), _tensors(f))
        for name, f in functions.items()
        if "generated" not in f.tags
    }


def _tensors(f: NativeFunction) -> tuple[str, ...]:
    """Tensor arguments in the wrapper's checking order: `out` first."""
    arguments = [*f.func.arguments.out, *f.func.arguments.flat_positional]
    return tuple(a.name for a in arguments if a.type.is_tensor_like())


def _rule(f: NativeFunction, functions: dict[str, NativeFunction], cuda: BackendIndex) -> str:
    """The first class that matches; the exact check wins over TensorIterator (`clamp`, `gcd`)."""
    delegate = functions[str(f.structured_delegate)] if f.structured_delegate else f
    if cuda.get_kernel(f) or cuda.get_kernel(delegate):
        if f.device_check is DeviceCheckType.ExactSame:
            return "exact_same"
        iterates = delegate.structured_inherits == "TensorIteratorBase"
        return "tensor_iterator" if iterates else "own_check"
    if f.has_composite_explicit_autograd_kernel or f.has_composite_explicit_autograd_non_functional_kernel:
        return "composite_explicit"
    return "composite_implicit" if f.has_composite_implicit_autograd_kernel else "no_cuda_kernel"
