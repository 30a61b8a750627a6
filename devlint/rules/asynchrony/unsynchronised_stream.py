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

## Fix safety

A suggestion: which stream has to wait for which is the program's plan.

## How a run confirms it

The CUDA sanitizer (`TORCH_CUDA_SANITIZER=1`) reports the race on a real GPU. Simulated devices have no streams.

## Known problems

Streams that are kept in containers or made in a loop are not told apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.finding import Applicability, Severity
from devlint.placement.domain import describe
from devlint.rules.causes import draft_step, origin_of
from devlint.rules.rule import Draft, DraftStep, Repair, Rule
from devlint.rules.wording import quoted

if TYPE_CHECKING:
    from devlint.placement.events import StreamCrossed


class UnsynchronisedStream(Rule):
    code = "DEV601"
    name = "unsynchronised-stream"
    severity = Severity.ERROR

    def stream_crossed(self, event: StreamCrossed) -> Iterable[Draft]:
        made, read = _stream(event.made_on), _stream(event.read_on)
        tensor = quoted(event.node, "the tensor")
        origin = origin_of(event.value)
        steps = tuple(draft_step(step) for step in reversed(tuple(origin))) if origin is not None else ()
        used = DraftStep(event.node, event.scope, f"used here on {read}", describe(event.value.device))
        yield Draft(
            node=event.node,
            scope=event.scope,
            message=f"{tensor} is computed on {made} but used on {read}, which does not wait for it; "
            "it may be read before it is written",
            trace=(*steps, used),
            repair=_repair(event),
        )


def _stream(name: str) -> str:
    return f"stream `{name}`" if name else "the default stream"


def _repair(event: StreamCrossed) -> Repair:
    reader = event.read_on or "torch.cuda.current_stream()"
    writer = event.made_on or "torch.cuda.current_stream()"
    before = "before entering it" if event.read_on else "after leaving it"
    return Repair(Applicability.SUGGESTION, f"{before}, write `{reader}.wait_stream({writer})`")
