"""Side streams: on which stream a tensor was computed, and whether its use on another stream is ordered after that.

Source: PyTorch's CUDA semantics notes, "CUDA streams": work on different streams is unordered until one waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_values import Tensor, Value
from devlint.placement.domain.events import StreamCrossed
from devlint.placement.domain.provenance import StepKind
from devlint.semantics import Operation, Result

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def reads_data(operation: Operation) -> bool:
    """Whether an operation reads the data of its operands; the host always knows their sizes.

    ``record_stream`` reads none: it informs the allocator of a use that is ordered otherwise.
    """
    if operation.name == "Tensor.record_stream":
        return False
    return operation.result not in (Result.HOST, Result.DTYPE) or operation.synchronises


def note_use(interp: Interpreter, node: cst.CSTNode, value: Value, expression: cst.CSTNode) -> None:
    """Record the use of a tensor on the current stream."""
    if not isinstance(value, Tensor):
        return
    streams = interp.state.streams
    if value.stream is None or value.stream == streams.current or not _made_here(interp, value):
        return
    if not streams.orders(value.stream, value.computed_at):
        interp.emit(StreamCrossed(expression, interp.scope, value, value.stream, streams.current))


def _made_here(interp: Interpreter, value: Tensor) -> bool:
    """Whether this definition computed the tensor; a tensor from outside may be ordered there."""
    if value.provenance is None:
        return False
    made = value.provenance.find(StepKind.MADE, StepKind.COMPUTED, StepKind.MOVED)
    return made is not None and made.scope == interp.scope


def wait(interp: Interpreter, waiting: str, awaited: str) -> None:
    """``waiting.wait_stream(awaited)``."""
    interp.state.streams = interp.state.streams.waited(waiting, awaited)


def synchronise(interp: Interpreter) -> None:
    """The host waits for all work: every order is certain, all copies have finished."""
    interp.state.streams = interp.state.streams.synchronised()
