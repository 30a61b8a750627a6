"""What the recorder must know of an operation before it runs, looked up once for each overload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

_aten = torch.ops.aten

_FRESH = frozenset((_aten.lift_fresh.default, _aten.lift.default))
_COPIES = frozenset((_aten._to_copy.default, _aten.copy_.default, _aten.clone.default))
_UNWRITTEN = _FRESH | {
    _aten.empty.memory_format,
    _aten.empty_strided.default,
    _aten.empty_like.default,
    _aten.new_empty.default,
    _aten.new_empty_strided.default,
}
_WAITS = frozenset(
    (
        _aten._local_scalar_dense.default,
        _aten.nonzero.default,
        _aten.masked_select.default,
        _aten.equal.default,
        _aten.is_nonzero.default,
        _aten._unique2.default,
        _aten.unique_dim.default,
        _aten.unique_consecutive.default,
        _aten.bincount.default,
        _aten.repeat_interleave.Tensor,
    )
)


@dataclass(frozen=True, slots=True)
class KindOfWork:
    """``is_fresh``: data from Python becomes a tensor, and its operand was born in the same call. ``copies``: what a
    transfer is below autograd; where it lands is known to the function mode only. ``is_queued_behind``: going back to
    the device, it waits for what its source waits for. ``waits``: the host needs its result (values read, and sizes
    that depend on data). ``writes``: False where the result is left as the memory was, or taken from the host.
    """

    func: Any
    is_view: bool
    is_fresh: bool
    copies: bool
    is_queued_behind: bool
    waits: bool
    writes: bool


KINDS_OF_WORK: dict[int, KindOfWork] = {}
"""By the overload's identity, which stays its own as long as it is held here: its hash is a call into Python."""


def learn(func: Any) -> KindOfWork:
    known = KindOfWork(
        func=func,
        is_view=func.is_view,
        is_fresh=func in _FRESH,
        copies=func in _COPIES,
        is_queued_behind=func in _COPIES and func is not _aten.clone.default,
        waits=func in _WAITS,
        writes=func not in _UNWRITTEN,
    )
    KINDS_OF_WORK[id(func)] = known
    return known
