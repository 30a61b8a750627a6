"""An index is on another device than the tensor it indexes.

## What it does

Finds `cpu_tensor[accelerator_index]`, `gather`, `index_select`, `scatter`, `embedding` and their kin with an index on
another device, and advanced assignments (`a[index] = values`) of values from another device.

## Why is this bad

Plain indexing accepts an index on the CPU or on the tensor's own device and nothing else:
"indices should be either on cpu or on the same device as the indexed tensor". The function forms are stricter: they
need index and tensor on one device, so a CPU index fails there too.

## Example

```python
import torch


def confident(scores: torch.Tensor) -> torch.Tensor:
    rows = scores.detach().cpu()
    keep = scores > 0.5
    return rows[keep]
```

## Use instead

```python
import torch


def confident(scores: torch.Tensor) -> torch.Tensor:
    rows = scores.detach().cpu()
    keep = scores > 0.5
    return rows[keep.cpu()]
```

## When it is right

- A CPU index into `[]` of a tensor anywhere: `x[torch.arange(4)]`, masks, flips.
- A 0-dim integer index: Python's indexing reads it as a number.
- Slices: `a[1:3] = b` copies across devices.
- An index from anywhere on the left: `rows[keep] = 0.0` moves `keep`; only the assigned values must be beside `rows`.

## Fix safety

A suggestion: `index.to(table.device)`, or keep the table where its index is.

## How a run confirms it

The indexing raises.

## Known problems

An index of unknown type may be a number; it is not reported.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft
from devlint.finding import Severity
from devlint.rules.meeting.operation_rules import clash_draft
from devlint.rules.rule import Rule
from devlint.semantics import Rule as Check

if TYPE_CHECKING:
    from devlint.placement.domain.events import DeviceMismatch


class AcceleratorIndexIntoCpu(Rule):
    code = "DEV402"
    name = "accelerator-index-into-cpu"
    severity = Severity.ERROR
    error_when_confirmed = True
    of_callers_tensors = True
    claims_before = ("DEV405",)  # module-and-input-apart

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        if event.callee == "operation" and _indexes(event):
            yield clash_draft(event)


def _indexes(event: DeviceMismatch) -> bool:
    """Whether one of the two operands says which elements of the other are meant."""
    if event.operation.rule in (Check.INDEX_READ, Check.INDEX_WRITE, Check.INDEX_PUT):
        return True
    if event.operation.name.rsplit(".", 1)[-1].startswith("embedding"):
        return True
    return any(operand.role in ("index", "indices") for operand in (event.offending, event.other))
