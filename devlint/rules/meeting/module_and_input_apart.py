"""A module is called with tensors on another device than its own.

## What it does

Finds calls of a module, a loss included, whose parameters and inputs, or whose inputs among each other, are on
different devices, and `nn.DataParallel` wrappers around a module that is not on the first of their `device_ids`.

## Why is this bad

The module's first operation raises. For `DataParallel`: "module must have its parameters and buffers on device cuda:1
(device_ids[0]) but found one of them on device: cuda:0".

## Example

```python
import torch
from torch import nn


def score(batch: torch.Tensor) -> torch.Tensor:
    head = nn.Linear(16, 2).to("cuda:0")
    return head(batch.cpu())
```

## Use instead

```python
import torch
from torch import nn


def score(batch: torch.Tensor) -> torch.Tensor:
    head = nn.Linear(16, 2).to(batch.device)
    return head(batch)
```

## When it is right

- The module holds neither parameter nor buffer (`nn.ReLU`, `nn.Softmax`, most losses): its inputs must agree with each
  other, not with it.
- A module wrapped in `nn.DataParallel` takes inputs from anywhere: it scatters them itself.
- Module and input are moved under the same condition.

## Fix safety

A suggestion: move the input to the module's device, or the module once to its inputs' device.

## How a run confirms it

The call raises inside the module.

## Known problems

Modules that move their inputs themselves are recognised only where their class is in the same project.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain import Known
from devlint.placement.values import Constant, Container, DeviceName, Module, Value
from devlint.rules.meeting.operation_rules import clash_draft
from devlint.rules.rule import Draft, Repair, Rule
from devlint.rules.wording import quoted

if TYPE_CHECKING:
    from devlint.placement.events import Called, Met


class ModuleAndInputApart(Rule):
    code = "DEV405"
    name = "module-and-input-apart"
    severity = Severity.ERROR

    def claim(self, event: Met) -> Iterable[Draft]:
        if event.callee in ("module", "loss"):
            yield clash_draft(event)

    def called(self, event: Called) -> Iterable[Draft]:
        """`DataParallel` checks at its first call that the module is on `device_ids[0]`."""
        if event.name != "torch.nn.DataParallel":
            return
        module, ids = event.call.argument("module", 0), event.call.argument("device_ids", 1)
        if module is None or ids is None or not isinstance(module.value, Module):
            return
        device, first = module.value.device, _first_index(ids.value)
        if first is None or not isinstance(device, Known) or device.index in (None, first):
            return
        yield Draft(
            node=ids.node,
            scope=event.scope,
            message=f"{quoted(module.node, 'the module')} is on {device} but `DataParallel` needs it on "
            f"{device.type}:{first}, the first of its `device_ids`; calling the wrapper fails",
            confidence=Confidence.HIGH,
            repair=Repair(Applicability.SUGGESTION, f"put index {device.index} first in `device_ids`, or move the "
                          f"module to {device.type}:{first} before wrapping it"),
        )  # fmt: skip


def _first_index(value: Value) -> int | None:
    first = value.items[0] if isinstance(value, Container) and value.items else None
    if isinstance(first, Constant) and type(first.value) is int:
        return first.value
    if isinstance(first, DeviceName) and isinstance(first.device, Known):
        return first.device.index
    return None
