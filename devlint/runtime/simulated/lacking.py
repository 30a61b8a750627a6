"""Kernels a CUDA build has and the CPU lacks for some dtype: run in a wider one and brought back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map

from devlint.runtime.simulated.errors import NotSimulated

Tensor = torch.Tensor

_NO_KERNEL = re.compile(r"not implemented for '(\w+)'")


def run_wider(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], error: NotImplementedError) -> Any:
    """The result of a call whose dtype the CPU's kernel lacks, computed in float32 (half precision) or float64.

    Raises NotSimulated for calls that write into their arguments, and when the wider dtype does not help either.
    """
    if "Could not run" in str(error):
        raise NotSimulated(f"{func}, which has no kernel for the CPU,") from error
    if not _NO_KERNEL.search(str(error)):
        raise error
    dtypes = {t.dtype for t in (*args, *kwargs.values()) if isinstance(t, Tensor)}
    if func._schema.is_mutable or not dtypes:
        raise NotSimulated(f"{func} in {_names(dtypes)}") from error
    narrow = next(iter(dtypes))
    wide = torch.float32 if narrow.is_floating_point else torch.float64

    def widened(value: Any) -> Any:
        return value.to(wide) if isinstance(value, Tensor) and value.dtype == narrow else value

    def narrowed(value: Any) -> Any:
        return value.to(narrow) if isinstance(value, Tensor) and value.dtype == wide else value

    try:
        wider = tree_map(widened, (tuple(args), dict(kwargs)))
        return tree_map(narrowed, func(*wider[0], **wider[1]))
    except NotImplementedError:
        raise NotSimulated(f"{func} in {_names(dtypes)}") from error


def _names(dtypes: set[torch.dtype]) -> str:
    return " and ".join(sorted(str(d).removeprefix("torch.") for d in dtypes))
