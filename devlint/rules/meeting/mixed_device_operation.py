"""Tensors on different devices meet in one operation.

## What it does

Finds arithmetic, comparisons, matrix products, `torch.cat`, `torch.stack`, `torch.where`, in-place operations, `out=`
and functional calls whose operands are on different devices, where nothing in the operands' history explains it
better: no tensor made without a device, no discarded move, no plain attribute. Then somebody put one operand there on
purpose, and the operation is where the two plans meet.

## Why is this bad

PyTorch moves nothing between devices by itself. The call raises
"Expected all tensors to be on the same device".

## Example

```python
import torch


def extended(batch: torch.Tensor) -> torch.Tensor:
    kept = batch.detach().cpu().unique(dim=0)
    return torch.cat([kept, batch])
```

## Use instead

```python
import torch


def extended(batch: torch.Tensor) -> torch.Tensor:
    kept = batch.detach().cpu().unique(dim=0)
    return torch.cat([kept, batch.to(kept.device)])
```

## When it is right

- One argument is brought to the CPU and meets another argument: its contract may want it there. The confidence is low.

Every mix that PyTorch allows is silent, by the tables of `devlint.semantics`:

- one 0-dim CPU tensor beside accelerator tensors in element-wise operations, though not as their in-place target;
- any number of them in `torch.where`;
- `copy_`, `a[1:3] = b` and the other operations that copy across devices.

## Fix safety

A suggestion: move the stray operand with `.to(other.device)`. Which of the two should move is the program's choice.

## How a run confirms it

The operation raises, and neither operand derives from a value that was repaired earlier.

## Known problems

`"cuda"` against `"cuda:1"` is not reported unless the current device is known on every path.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.finding import Severity
from devlint.rules.meeting.operation_rules import clash_draft
from devlint.rules.rule import Draft, Rule

if TYPE_CHECKING:
    from devlint.placement.events import Met


class MixedDeviceOperation(Rule):
    code = "DEV401"
    name = "mixed-device-operation"
    severity = Severity.ERROR

    def claim(self, event: Met) -> Iterable[Draft]:
        yield clash_draft(event)
