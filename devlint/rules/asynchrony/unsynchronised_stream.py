"""A tensor computed on one stream is used on another, and nothing orders the two.

## What it does

Finds uses of a tensor under `with torch.cuda.stream(s):` that was made outside of it, and the way back, where no
`wait_stream`, `wait_event` or `synchronize` stands between.

## Why is this bad

Work on one stream runs in order; work on two streams runs in any. The reader may start while the tensor is still being
written and then reads what was in that memory before. The result is wrong now and then, on some machines, under some
load, and no error is raised.

## Example

```python
import torch


def norm() -> torch.Tensor:
    field = torch.ones(1 << 20, device="cuda") * 3
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        return field.norm()
```

## Use instead

```python
import torch


def norm() -> torch.Tensor:
    field = torch.ones(1 << 20, device="cuda") * 3
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        return field.norm()
```

The memory of `field` belongs to the stream it was made on: where it is freed before the side stream is done,
`field.record_stream(side)` belongs there too.

## When it is right

- The reading stream waits: `wait_stream`, `wait_event`, or the host synchronises in between.
- The tensor comes from outside the function: its caller may have ordered it.
- Both uses are on one stream.
- The tensor is memory that nothing has been written to, `torch.empty(...)`.

## Fix safety

A suggestion: the reading stream waits for the one that the tensor was made on, right before the `with` block or the
use. Where waiting earlier or for an event leaves more room for work side by side, that is the program's plan. There is
no edit where a stream has no name.

## How a run confirms it

Each piece of work has its stream, and who waited for whom is followed, on simulated devices too: the use is observed
where nothing put it after the work it needs. On a real GPU the CUDA sanitizer (`TORCH_CUDA_SANITIZER=1`) is asked
besides, in a run of its own.

## Known problems

Streams that are kept in containers or made in a loop are not distinguished.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.changes import InsertBefore
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step, provenance_of
from devlint.drafts.wording import quoted
from devlint.finding import Applicability, Severity
from devlint.placement.domain.lattice import CPU, describe
from devlint.rules.asynchrony.stream_blocks import StreamBlock, stream_around
from devlint.rules.rule import Rule

if TYPE_CHECKING:
    from devlint.placement.domain.events import Begun, StreamCrossed
    from devlint.placement.domain.scope import Scope


class UnsynchronisedStream(Rule):
    code = "DEV601"
    name = "unsynchronised-stream"
    severity = Severity.ERROR
    error_when_confirmed = True

    def __init__(self) -> None:
        self._reported: set[tuple[str, str, str, int]] = set()
        """Definition, streams and the tensor's latest step: a tensor that nothing waited for is one cause."""
        self._begun: dict[Scope, Begun] = {}

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._begun[event.scope] = event
        return ()

    def stream_crossed(self, event: StreamCrossed) -> Iterable[Draft]:
        if event.value.device == CPU:
            # Streams order the accelerator's work; on the CPU the call has ended (fixture `ordered`).
            return
        made, read = _between(event)
        tensor = quoted(event.node, "the tensor")
        provenance = provenance_of(event.value)
        key = (
            event.scope.qualname,
            event.made_on,
            event.read_on,
            id(provenance.step.node) if provenance is not None else 0,
        )
        if key in self._reported:
            return
        self._reported.add(key)
        steps = tuple(draft_step(step) for step in reversed(tuple(provenance))) if provenance is not None else ()
        used = DraftStep(event.node, event.scope, f"used here on {read}", describe(event.value.device))
        yield Draft(
            node=event.node,
            scope=event.scope,
            message=f"{tensor} is computed on {made} but used on {read}, which does not wait for it; "
            "it may be read before it is written",
            trace=(*steps, used),
            repair=self._repair(event),
        )

    def _repair(self, event: StreamCrossed) -> Repair:
        begun = self._begun.get(event.scope)
        provenance = provenance_of(event.value)
        made = provenance.step.node if provenance is not None and provenance.step.scope == event.scope else None
        reading = stream_around(event.node, begun) if event.read_on else None
        writing = stream_around(made, begun) if event.made_on and made is not None else None
        if event.read_on:
            return _waits_before_entering(event, reading, writing)
        message = "after the `with` block, write `torch.cuda.current_stream().wait_stream(side)`"
        if writing is None:
            return Repair(Applicability.SUGGESTION, message)
        line = f"{writing.of_current}.wait_stream({writing.stream})"
        return Repair(Applicability.SUGGESTION, f"before it is used, write `{line}`", (InsertBefore(event.node, line),))


def _between(event: StreamCrossed) -> tuple[str, str]:
    """What the two streams are called. Empty is the default stream; of the others only the identity is known."""
    if event.made_on and event.read_on:
        return "one side stream", "another"
    return ("a side stream", "the default stream") if event.made_on else ("the default stream", "a side stream")


def _waits_before_entering(event: StreamCrossed, reading: StreamBlock | None, writing: StreamBlock | None) -> Repair:
    """The stream that is entered for the use waits for the one that made the value."""
    if reading is None or (event.made_on and writing is None):
        writer = "the stream it was made on" if event.made_on else "torch.cuda.current_stream()"
        message = f"before `with torch.cuda.stream(side)`, let `side.wait_stream(...)` wait for {writer}"
        if not event.made_on:
            message = f"before `with torch.cuda.stream(side)`, write `side.wait_stream({writer})`"
        return Repair(Applicability.SUGGESTION, message)
    line = f"{reading.stream}.wait_stream({writing.stream if writing is not None else reading.of_current})"
    message = f"before `with {reading.entered}`, write `{line}`"
    return Repair(Applicability.SUGGESTION, message, (InsertBefore(reading.node, line),))
