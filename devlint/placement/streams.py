"""Side streams: which stream a tensor was computed on, and whether anything orders its use elsewhere after that.

Source: PyTorch's CUDA semantics notes, "CUDA streams": work on different streams is unordered until one waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.events import StreamCrossed
from devlint.placement.origin import StepKind
from devlint.placement.values import Tensor, Value

if TYPE_CHECKING:
    from devlint.placement.walk import Walk


def note_use(walk: Walk, node: cst.CSTNode, value: Value, expression: cst.CSTNode) -> None:
    """A tensor is used on the current stream."""
    if not isinstance(value, Tensor):
        return
    state = walk.state
    if value.stream == state.stream or not _made_here(walk, value):
        return
    if max(state.waits.get((state.stream, value.stream), -1), state.ordered_until) < value.computed_at:
        walk.emit(StreamCrossed(expression, walk.scope, value, value.stream, state.stream))


def _made_here(walk: Walk, value: Tensor) -> bool:
    """Both streams must be seen in one definition; a tensor from outside may be ordered there."""
    if value.origin is None:
        return False
    made = value.origin.find(StepKind.MADE, StepKind.COMPUTED, StepKind.MOVED)
    return made is not None and made.scope == walk.scope


def wait(walk: Walk, waiting: str, awaited: str) -> None:
    """``waiting.wait_stream(awaited)``."""
    state = walk.state
    state.waits[(waiting, awaited)] = state.epoch
    state.epoch += 1


def synchronise(walk: Walk) -> None:
    """The host waits for everything: all orders are certain, all copies have arrived."""
    state = walk.state
    state.ordered_until = state.epoch
    state.epoch += 1
    state.synchronisation += 1
