"""A copy asked to be asynchronous blocks all the same, because its source is pageable.

## What it does

Finds `non_blocking=True` on a transfer to an accelerator whose source was made on the CPU in sight and not pinned.

## Why is this bad

A copy overlaps with other work only when the driver can read its source directly, and that needs page-locked memory.
From pageable memory the flag is accepted and brings nothing, so the line promises an overlap that does not happen.

## Example

```python
import numpy as np
import torch


def upload(samples: np.ndarray, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(samples).to(device, non_blocking=True)
```

## Use instead

```python
import numpy as np
import torch


def upload(samples: np.ndarray, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(samples).pin_memory().to(device, non_blocking=True)
```

## When it is right

- The tensor was pinned: `.pin_memory()`, `pin_memory=True`, a DataLoader that pins.
- The tensor comes from elsewhere: where it was allocated is not known.
- The copy goes to the CPU.

## Fix safety

A suggestion: pinning copies too, and pays only where the pinned tensor is used again or prepared by a worker.

## How a run confirms it

The source of the copy answers `is_pinned()` with False.

## Known problems

None known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.changes import suffixed
from devlint.drafts.draft import Draft, Repair
from devlint.drafts.trace import draft_step
from devlint.drafts.wording import quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Constant, Tensor
from devlint.placement.domain.lattice import CPU, describe, leaves
from devlint.placement.domain.provenance import StepKind
from devlint.rules.rule import Rule

if TYPE_CHECKING:
    from devlint.placement.domain.events import Moved


class UnpinnedNonBlocking(Rule):
    code = "DEV705"
    name = "unpinned-non-blocking"
    severity = Severity.NOTE

    def moved(self, event: Moved) -> Iterable[Draft]:
        receiver = event.receiver
        flag = event.call.keyword("non_blocking")
        if flag is None or not isinstance(flag.value, Constant) or flag.value.value is not True:
            return
        if not isinstance(receiver, Tensor) or receiver.device != CPU or receiver.pinned or receiver.provenance is None:
            return
        made = receiver.provenance.find(StepKind.MADE)
        if made is None or CPU in leaves(event.target):
            return
        source = quoted(event.receiver_node, "its source")
        yield Draft(
            node=event.node,
            scope=event.scope,
            message=f"{source} is in pageable memory, so the copy to {describe(event.target)} blocks "
            "although it asks not to",
            confidence=Confidence.HIGH,
            trace=(draft_step(made),),
            repair=Repair(
                Applicability.SUGGESTION,
                "pin it first: `.pin_memory().to(..., non_blocking=True)`",
                suffixed(event.receiver_node, ".pin_memory()"),
            ),
        )
