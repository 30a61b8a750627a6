"""What goes wrong on the simulated machine: the texts CUDA gives, and the one error for what is not simulated.

Other kinds of accelerator say the same with their own names in it, as far as their code is generated from the same
source; MPS has texts of its own for some, which are not copied here.

The texts are those of semantics/tables/errors.json; `tests/runtime` classifies each of them back to its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from devlint.runtime.judging import Meeting
from devlint.runtime.simulated.kinds import CUDA, KINDS, Kind
from devlint.semantics import Clash


class NotSimulated(NotImplementedError):
    """The program asked for something the simulated machine does not do."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not simulated: run on a real accelerator to see what it does")
        self.what = what


class NotSimulatedName(NotSimulated, AttributeError):
    """The same for a name that `hasattr` may ask about."""


def accelerator_error(text: str) -> Exception:
    kind = getattr(torch, "AcceleratorError", RuntimeError)
    error: Exception = kind(text)
    return error


def invalid_ordinal(kind: Kind, index: int, count: int) -> Exception:
    """For an index that no device has."""
    if kind is not CUDA:  # c10/xpu/XPUFunctions.cpp
        return RuntimeError(f"The device index is out of range. It must be in [0, {count}), but got {index}.")
    return accelerator_error(
        "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?\n"
    )


def clash_error(func: Any, meeting: Meeting, clash: Clash[torch.device]) -> Exception:
    """The exception CUDA raises for a clash, as far as its text is known."""
    raised: type[Exception] = _TYPES.get(clash.kind, RuntimeError)
    return raised(clash_text(func, meeting, clash))


_TYPES: dict[str, type[Exception]] = {"numpy": TypeError, "no_cuda_kernel": NotImplementedError}


def numpy_text(device: torch.device) -> str:
    return (
        f"can't convert {device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
    )


def clash_text(func: Any, meeting: Meeting, clash: Clash[torch.device]) -> str:
    stray = clash.operand
    other = clash.other
    role, device = meeting.roles[stray], meeting.devices[stray]
    beside = meeting.devices[other] if other is not None else torch.device("cpu")
    if clash.kind == "no_cuda_kernel":
        name = _bare(meeting.operation.name)
        return f"Could not run 'aten::{name}' with arguments from the '{_title(meeting)}' backend"
    known = _TEXTS.get(clash.kind)
    if known is not None:
        return known(meeting, role, device, beside)
    if clash.kind in ("own_check", "searchsorted", "index_family"):
        own = _OWN.get(_bare(meeting.operation.name))
        if own is not None:
            return own.format(role=role, device=device, beside=beside)
    return (
        f"Expected all tensors to be on the same device, but got {role} is on {device}, different from other tensors "
        f"on {beside} (when checking argument in method {wrapper_name(func, _title(meeting))})"
    )


def _title(meeting: Meeting) -> str:
    """The backend that a message speaks of."""
    return next((KINDS[place.type].title for place in meeting.devices if place.type in KINDS), CUDA.title)


def wrapper_name(func: Any, backend: str = "CUDA") -> str:
    """The generated wrapper's name, as torchgen forms it for an operator without structured kernels."""
    schema = getattr(func, "_schema", None)
    if schema is None:
        return f"wrapper_{backend}_{getattr(func, '__name__', func)}"
    name = schema.name.partition("::")[2]
    return f"wrapper_{backend}_{schema.overload_name}_{name}"


def _bare(operation: str) -> str:
    """The name without namespace and overload: "aten.index_fill_.int_Scalar" is "index_fill_"."""
    parts = operation.split(".")
    return parts[1] if parts[0] == "aten" else parts[-1]


def type_name(tensor: torch.Tensor, device: torch.device) -> str:
    """`tensor.type()`: "torch.cuda.FloatTensor"."""
    plain = torch._C.TensorBase.type(tensor)
    return str(plain).replace("torch.", f"torch.{device.type}.") if device.type in KINDS else str(plain)


def pin_text(tensor: torch.Tensor, device: torch.device) -> str:
    return f"cannot pin '{type_name(tensor, device)}' only dense CPU tensors can be pinned"


def generator_text(wanted: torch.device, found: torch.device) -> str:
    return f"Expected a '{wanted.type}' device type for generator but found '{found.type}'"


def _conv(meeting: Meeting, role: str, device: torch.device, beside: torch.device) -> str:
    names = dict(zip(meeting.roles, zip(meeting.values, meeting.devices, strict=True), strict=True))
    tensor, where = names.get("input", (meeting.values[0], meeting.devices[0]))
    other = next((r for r in ("weight", "bias") if r in names and names[r][1] != where), "weight")
    theirs, there = names.get(other, (meeting.values[-1], meeting.devices[-1]))
    return f"Input type ({type_name(tensor, where)}) and {other} type ({type_name(theirs, there)}) should be the same"


def _two_devices(devices: Sequence[torch.device]) -> str:
    first, second = sorted(devices, key=lambda d: d.type == "cpu")
    return f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"


def _pack(meeting: Meeting, role: str, device: torch.device, beside: torch.device) -> str:
    lengths = meeting.values[meeting.roles.index(role)]
    return (
        f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.dim()}D {device} "
        f"{type_name(lengths, torch.device('cpu')).removeprefix('torch.').removesuffix('Tensor')} tensor"
    )


_Text = Callable[[Meeting, str, torch.device, torch.device], str]
_TEXTS: dict[str, _Text] = {
    "mismatch_iterator": lambda m, r, d, b: _two_devices((d, b)),
    "too_many_cpu_scalars": lambda m, r, d, b: "Trying to pass too many CPU scalars to non-CPU kernel!",
    "kernel_cpu_operand": lambda m, r, d, b: (
        f"argument {m.roles.index(r) + 1}: expected a {_title(m)} device but found {d}"
    ),
    "addcmul_scalar": lambda m, r, d, b: (
        f"CPU Scalar support for {'self' if r == 'input' else r} argument is not supported when calling addcmul on "
        f"{_title(m)} tensors"
    ),
    "foreach_scalar": lambda m, r, d, b: f"scalar tensor expected to be on {b} but is on {d}",
    "index_device": lambda m, r, d, b: (
        f"indices should be either on cpu or on the same device as the indexed tensor ({b})"
    ),
    "index_put_value": lambda m, r, d, b: f"expected device {b} but got device {d} for value tensor",
    "masked_fill": lambda m, r, d, b: (
        "masked_fill_: Expected inputs to be on same device"
        if r == "value" or b.type == "cpu"
        else f"expected self and mask to be on the same device, but got mask on {d} and self on {b}"
    ),
    "conv_type": _conv,
    "generator": lambda m, r, d, b: generator_text(b, d),
    "numpy": lambda m, r, d, b: numpy_text(d),
    "pin": lambda m, r, d, b: pin_text(m.values[m.roles.index(r)], d),
    "pack_lengths": _pack,
    "tensor_split": lambda m, r, d, b: (
        f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {d}"
    ),
    "randint_high": lambda m, r, d, b: "high must be a scalar tensor and on CPU",
    "set_data": lambda m, r, d, b: (
        f'Attempted to set the storage of a tensor on device "{b}" to a storage on different device "{d}".'
    ),
}

_SAME = "Expected all tensors to be on the same device, but found at least two devices, {beside} and {device}!"
_OWN = {
    "meshgrid": "meshgrid expects all tensors to have the same device",
    "grid_sampler": "grid_sampler(): expected input and grid to be on same device, but input is on {beside} and grid "
    "is on {device}",
    "grid_sample": "grid_sampler(): expected input and grid to be on same device, but input is on {beside} and grid "
    "is on {device}",
    "multi_dot": "multi_dot(): all tensors must be on the same device",
    "block_diag": "torch.block_diag: input tensors must all be on the same device.",
    "stft": "stft input and window must be on the same device but got self on {beside} and window on {device}",
    "istft": "istft input and window must be on the same device but got self on {beside} and window on {device}",
    "quantile": "quantile() q tensor must be on the same device as the input tensor",
    "nanquantile": "quantile() q tensor must be on the same device as the input tensor",
    "cdist": "X1 and X2 must have the same device type. X1: {beside} X2: {device}",
    "_cdist_forward": "X1 and X2 must have the same device type. X1: {beside} X2: {device}",
    "scaled_dot_product_attention": "Expected query, key, and value to have the same device type, but got "
    "query.device: {beside} key.device: {beside} and value.device: {device} instead.",
    "gradient": "torch.gradient expected each tensor to be on the same device",
    "_weight_norm": "weight_norm: expected v_in and g_in to be on the same device, but v_in is on {beside} and g_in "
    "is on {device}",
    "index_fill_": _SAME,
    "index_fill": _SAME,
}
