"""The kinds of accelerator that are simulated, and what a program can tell them apart by.

What meets what follows CUDA's rules on all of them: the same generated checks run for XPU, and MPS refuses the same
mixtures with texts of its own (docs.pytorch.org/docs/stable/notes/mps.html, torchgen/dest/register_dispatch_key.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of accelerator: a row."""

    type: str
    """As `torch.device` names it."""
    most: int
    """How many devices one machine can have."""
    number: int
    """c10::DeviceType, which goes with the id of a stream."""
    lacks: dict[torch.dtype, str]
    """Dtypes that have no tensors there, and what PyTorch says of each."""

    @property
    def title(self) -> str:
        """As PyTorch's messages name its backend."""
        return self.type.upper()


CUDA = Kind("cuda", 16, 1, {})
XPU = Kind("xpu", 16, 12, {})
MPS = Kind(
    "mps",
    1,
    13,
    # aten/src/ATen/mps/EmptyTensor.cpp, aten/src/ATen/native/mps/OperationUtils.mm
    {
        torch.float64: "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
        "Please use float32 instead.",
        torch.complex128: "Trying to convert ComplexDouble to the MPS backend but it does not have support for that "
        "dtype.",
    },
)
KINDS = {kind.type: kind for kind in (CUDA, XPU, MPS)}


def refusal(dtype: torch.dtype, place: torch.device) -> str:
    """What PyTorch says of tensors of a dtype there; empty where they can be."""
    kind = KINDS.get(place.type)
    return kind.lacks.get(dtype, "") if kind is not None else ""


def check_dtype(dtype: torch.dtype, place: torch.device) -> None:
    """Raises TypeError as PyTorch does where a kind of accelerator has no tensors of a dtype."""
    if text := refusal(dtype, place):
        raise TypeError(text)
