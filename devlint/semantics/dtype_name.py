"""The names of dtypes, and the class of each."""

from __future__ import annotations

from devlint.semantics.operation import DType

_NAMES = {
    DType.BOOL: "bool",
    DType.INT: "uint8 uint16 uint32 uint64 int8 int16 int32 int64 short int long",
    DType.OTHER: "half float double cfloat cdouble chalf float16 float32 float64 bfloat16 complex32 complex64 "
    "complex128 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2 "
    "qint8 qint32 quint8 quint4x2 quint2x4",
}

_CLASSES = {f"torch.{name}": dtype for dtype, names in _NAMES.items() for name in names.split()}
"""Source: torch/_C/__init__.pyi."""


def dtype_class(qualified: str) -> DType | None:
    """The class of the dtype with this qualified name (``torch.half``); None if it names no dtype."""
    return _CLASSES.get(qualified)
