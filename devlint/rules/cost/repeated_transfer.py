"""The same value is moved to the device in every iteration of a loop.

## What it does

Finds transfers in a loop whose receiver no statement of the loop binds: the tensor of the iteration before is moved
again. The confidence is medium where the tensor is known to be on the CPU, and low where it may be on the device
already, which makes the transfer free.

## Why is this bad

A transfer copies; the loop copies the same data as often as it runs. In most programs that costs little: this is a
note, off by default.

## Example

```python
import torch


def weighted(batches: list[torch.Tensor], device: torch.device) -> list[torch.Tensor]:
    weights = torch.tensor([0.2, 0.3, 0.5])
    results = []
    for batch in batches:
        results.append(batch.to(device) * weights.to(device))
    return results
```

## Use instead

```python
import torch


def weighted(batches: list[torch.Tensor], device: torch.device) -> list[torch.Tensor]:
    weights = torch.tensor([0.2, 0.3, 0.5], device=device)
    results = []
    for batch in batches:
        results.append(batch.to(device) * weights)
    return results
```

## When it is right

- The name is bound in the loop: `batch = batch.to(device)`.
- A transfer to the CPU, or of the dtype only.
- The device changes from iteration to iteration.

## Fix safety

A suggestion: the transfer belongs before the loop, where its device is known there.

## How a run confirms it

One tensor is copied at this place more than once.

## Known problems

A tensor that a call changes in place between two iterations is reported as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Tensor
from devlint.placement.domain.events import Fate
from devlint.placement.domain.lattice import CPU, Known, SameAs, describe, is_given, leaves
from devlint.rules.cost.loops import Loops
from devlint.rules.rule import Rule

if TYPE_CHECKING:
    from devlint.placement.domain.events import LoopEntered, LoopLeft, Moved, Stored


_PATH = re.compile(r"[A-Za-z_][\w.]*")
"""Names in the expression of a device, also inside an f-string."""


class RepeatedTransfer(Rule):
    code = "DEV704"
    name = "repeated-transfer"
    severity = Severity.NOTE

    def __init__(self) -> None:
        self._loops: Loops[Moved] = Loops()

    def loop_entered(self, event: LoopEntered) -> Iterable[Draft]:
        self._loops.enter(event)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._loops.bind(event.target)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        loop = self._loops.innermost
        if loop is not None and event.moves and event.fate == Fate.USED and _copies(event) and not event.guarded:
            loop.seen.append(event)
        return ()

    def loop_left(self, event: LoopLeft) -> Iterable[Draft]:
        loop = self._loops.leave(event)
        for moved in loop.seen:
            paths = (moved.receiver_text, *_PATH.findall(_target(moved)))
            if not any(_is_bound(path, loop.bound) for path in paths):
                yield _draft(moved)


def _draft(event: Moved) -> Draft:
    device = describe(event.target)
    return Draft(
        node=event.node,
        scope=event.scope,
        message=f"{quoted(event.receiver_node, 'the same tensor')} is copied to {device} in every iteration, and "
        "the loop never binds it",
        confidence=Confidence.MEDIUM if getattr(event.receiver, "device", None) == CPU else Confidence.LOW,
        trace=(DraftStep(event.node, event.scope, "copied here, again and again", device),),
        repair=Repair(Applicability.SUGGESTION, "move it once, before the loop"),
    )


def _copies(event: Moved) -> bool:
    """A tensor under a name goes to the device from where it is not."""
    receiver = event.receiver
    if not isinstance(receiver, Tensor) or not all(part.isidentifier() for part in event.receiver_text.split(".")):
        return False
    ends = leaves(event.target)
    if receiver.device == event.target or not all(isinstance(leaf, (Known, SameAs)) and leaf != CPU for leaf in ends):
        return False
    return receiver.device == CPU or is_given(receiver.device)


def _target(event: Moved) -> str:
    return code_of(event.named.node) if event.named is not None else ""


def _is_bound(path: str, bound: set[str]) -> bool:
    """Whether the path or what it is reached through is bound."""
    parts = path.split(".")
    return any(".".join(parts[:count]) in bound for count in range(1, len(parts) + 1))
