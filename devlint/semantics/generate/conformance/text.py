"""Values as the code that makes them."""

from __future__ import annotations

from typing import Any

import torch

LONGEST = 128
"""Elements that are written out."""


class NoText(Exception):
    """A value no short code makes."""


def plain_text(value: Any) -> str:
    """A plain argument. Raises NoText."""
    match value:
        case None | bool() | int() | str() | complex():
            return repr(value)
        case float():
            return repr(value) if value == value and abs(value) != float("inf") else f"float('{value}')"
        case torch.dtype() | torch.memory_format() | torch.layout():
            return str(value)
        case slice():
            return f"slice({plain_text(value.start)}, {plain_text(value.stop)}, {plain_text(value.step)})"
        case torch.Size():
            return repr(tuple(value))
    raise NoText(type(value).__name__)


def operand_text(tensor: torch.Tensor, literal: bool) -> str:
    """The maker of a tensor without its place: a pattern of the same shape and dtype, or its own values.

    Floats keep three digits. Raises NoText for a dtype no maker has.
    """
    shape = ", ".join(map(str, tensor.shape))
    if literal:
        return _literal(tensor)
    match tensor.dtype:
        case torch.float32:
            return f"x({shape})"
        case torch.bool:
            return f"b({shape})"
        case torch.complex64:
            return f"z({shape})"
        case torch.int64 | torch.int32 | torch.uint8:
            below = max(int(tensor.max()), 0) + 1
            dtype = "" if tensor.dtype is torch.int64 else f", dtype={tensor.dtype}"
            return f"i({', '.join(filter(None, (str(below), shape)))}{dtype})"
        case torch.float64 | torch.float16 | torch.bfloat16:
            return f"x({', '.join(filter(None, (shape, f'dtype={tensor.dtype}')))})"
    raise NoText(str(tensor.dtype))


def _literal(tensor: torch.Tensor) -> str:
    if tensor.dtype not in (torch.float32, torch.float64, torch.int64, torch.int32, torch.bool, torch.complex64):
        raise NoText(str(tensor.dtype))
    if not torch.isfinite(tensor).all() or tensor.numel() > LONGEST:
        raise NoText("not finite, or too long")
    flat = [_short(v) for v in tensor.flatten().tolist()]
    dtype = "" if tensor.dtype in (torch.float32, torch.int64, torch.bool, torch.complex64) else f", {tensor.dtype}"
    if tensor.dim() < 2:
        return f"t({_listed(flat) if tensor.dim() else flat[0]}{dtype})"
    return f"t({_listed(flat)}{dtype}, shape={tuple(tensor.shape)})"


def _listed(flat: list[Any]) -> str:
    return "[" + ", ".join(str(v) for v in flat) + "]"


def _short(value: Any) -> Any:
    if isinstance(value, complex):
        return complex(round(value.real, 3), round(value.imag, 3))
    return round(value, 3) if isinstance(value, float) else value
