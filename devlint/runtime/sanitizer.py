"""Data races between streams, as PyTorch's CUDA sanitizer sees them on a real GPU.

The sanitizer registers callbacks for the whole process that cannot be taken back, and slows every call down: it
belongs into a process of its own, which runs the program once and ends.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from devlint.runtime.frames import is_user_code
from devlint.runtime.observation import Observation, Seen, Spot


@contextmanager
def sanitized(sink: Callable[[Observation], None]) -> Iterator[None]:
    """Run the body under the sanitizer and go on after each race. Needs CUDA (torch 2.0 or newer)."""
    from torch.cuda import _sanitizer

    mode: Any = _sanitizer.CUDASanitizerDispatchMode()
    report_to(mode.event_handler, sink)
    with mode:
        yield


def report_to(handler: Any, sink: Callable[[Observation], None]) -> None:
    """Have an event handler of the sanitizer tell each kind of race once, instead of ending the program."""
    true_launch = handler._handle_kernel_launch
    known: set[Any] = set()

    def launch(*args: Any, **kwargs: Any) -> list[Any]:
        for error in true_launch(*args, **kwargs):
            observation = observation_of(error)
            key = (observation.spots[:1], observation.operands[0].moved)
            if key not in known:
                known.add(key)
                sink(observation)
        return []

    handler._handle_kernel_launch = launch


def observation_of(error: Any) -> Observation:
    """One `UnsynchronizedAccessError`: the later access, with the earlier one as the operand's `moved`."""
    current, previous = error.current_access, error.previous_access
    allocated = error.allocation_stack_trace
    before = _places(previous.stack_trace)
    born = _places(allocated) if allocated is not None else ()
    operand = Seen(", ".join(current.aliases), "cuda", (), "", born[0] if born else None, before[0] if before else None)
    message = (
        f"stream {current.stream:#x} is {current.type} a tensor without waiting for stream {previous.stream:#x}, "
        f"which was {previous.type} it"
    )
    places = _places(current.stack_trace)
    return Observation("stream", places, (operand,), str(current.operator), message, judged="device")


def _places(stack: traceback.StackSummary) -> tuple[Spot, ...]:
    """The user's frames of a stack summary, which is kept outermost first."""
    frames = [f for f in reversed(stack) if is_user_code(f.filename)]
    return tuple(Spot(f.filename, line, f.end_lineno or line, 0, f.name) for f in frames if (line := f.lineno or 0))
