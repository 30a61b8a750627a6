"""Names of functions and classes that are made for one accelerator and say so."""

from __future__ import annotations

_WORDS = ("cuda", "gpu", "nccl", "triton", "nvidia", "tensorrt", "trt", "xpu", "hpu", "npu", "rocm", "flash")


def is_contract(qualname: str) -> bool:
    """Whether the name says which accelerator it is for."""
    lowered = qualname.lower()
    return any(word in lowered for word in _WORDS)
