"""Inputs and arguments as they are written on a command line: ``float32[4,16,10]``, ``mask=bool[4]``, ``hidden=8``."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_FLOATS = ("float16", "float32", "float64", "bfloat16")
_INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
_COMPLEX = ("complex64", "complex128")
DTYPES = (*_FLOATS, *_INTEGERS, *_COMPLEX, "bool")

_INPUT = re.compile(
    r"(?:(?P<name>[A-Za-z_]\w*)=)?(?P<dtype>[a-z]+\d*)\[(?P<shape>[\d\s,]*)\]"
    r"(?:\{\s*(?P<low>-?[\d.]+)\s*\.\.\s*(?P<high>-?[\d.]+)\s*\})?"
)


class BadEntry(ValueError):
    """Something about an entry that cannot be meant as it is written; the message names it."""


@dataclass(frozen=True, slots=True)
class Input:
    """One tensor to make. ``low`` and ``high`` bound its values, both included; ``name`` is a keyword or empty."""

    dtype: str
    shape: tuple[int, ...]
    name: str = ""
    low: float | None = None
    high: float | None = None

    def make(self, generator: torch.Generator) -> torch.Tensor:
        """The tensor, on the CPU: normal floats, integers from 0 and 1, unless bounds are given."""
        import torch

        dtype: torch.dtype = getattr(torch, self.dtype)
        if self.dtype == "bool":
            return torch.randint(0, 2, self.shape, generator=generator).bool()
        if self.dtype in _INTEGERS:
            low, high = int(self.low or 0), int(1 if self.high is None else self.high)
            return torch.randint(low, high + 1, self.shape, generator=generator, dtype=dtype)
        if self.low is not None and self.high is not None:
            unit = torch.rand(self.shape, generator=generator)
            return (self.low + (self.high - self.low) * unit).to(dtype)
        return torch.randn(self.shape, generator=generator).to(dtype)


def parse_input(text: str) -> Input:
    """``[name=]dtype[sizes][{low..high}]``, as in ``int64[4]{0..9}``. Raises BadEntry."""
    match = _INPUT.fullmatch(text.strip())
    if match is None:
        raise BadEntry(f"the input `{text}` is not like `float32[4,16]` or `int64[4]{{0..9}}`")
    dtype = match["dtype"]
    if dtype not in DTYPES:
        raise BadEntry(f"the input `{text}` has no dtype of torch: {', '.join(DTYPES)}")
    shape = tuple(int(size) for size in match["shape"].replace(" ", "").split(",") if size)
    if match["low"] is None:
        return Input(dtype, shape, match["name"] or "")
    if dtype == "bool" or dtype in _COMPLEX:
        raise BadEntry(f"the input `{text}`: values of {dtype} have no bounds")
    try:
        low, high = float(match["low"]), float(match["high"])
    except ValueError:
        raise BadEntry(f"the input `{text}`: its bounds are not numbers") from None
    if low > high:
        raise BadEntry(f"the input `{text}`: its lower bound is above the upper one")
    return Input(dtype, shape, match["name"] or "", low, high)


def parse_arguments(text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The literal arguments of a call: ``hidden=8, bias=False``. Raises BadEntry."""
    try:
        call = ast.parse(f"f({text}\n)", mode="eval").body
        if not isinstance(call, ast.Call) or any(keyword.arg is None for keyword in call.keywords):
            raise ValueError
        positional = tuple(ast.literal_eval(argument) for argument in call.args)
        return positional, {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError):
        raise BadEntry(f"--init {text!r}: expected literal arguments, as in 'hidden=8, bias=False'") from None
