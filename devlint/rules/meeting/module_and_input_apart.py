"""A module is called with tensors on another device than its own.

## What it does

Finds calls of a module, a loss included, whose parameters and inputs, or whose inputs among each other, are on
different devices, and `nn.DataParallel` wrappers around a module that is not on the first of their `device_ids`. Also
such wrappers without `device_ids` that are made because the machine has several GPUs, in functions that are asked for a
device or read one that their user chose, or in any case, where an option decides between the CPU and an accelerator, or
an argument of the function says where the module is.

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

Modules that move their inputs themselves are recognised where their class is in the same project; of other packages
only those are judged that devlint has a row for, and of what a tokenizer makes (`return_tensors="pt"`) all that the
program puts somewhere. A module that a script, or a method of its owner, hands on as it is
(`Trainer(model)`) may be moved there: nothing is said of it, unless what gets it is a function of the project that
neither moves it nor hands it on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, Repair
from devlint.drafts.trace import trace_of
from devlint.drafts.wording import device_of, operand_and_placement
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.domain.lattice import UNKNOWN, describe
from devlint.records import replace
from devlint.rules.meeting.operation_rules import clash_draft, is_where_objects_work
from devlint.rules.meeting.wrapped_for_all import WrappedForAll, wraps
from devlint.rules.rule import Rule
from devlint.rules.waking import any_of

if TYPE_CHECKING:
    from devlint.placement.domain.events import Begun, Called, DeviceMismatch, Moved

WRAPPER_CLASH = "data_parallel"


class ModuleAndInputApart(Rule):
    code = "DEV405"
    name = "module-and-input-apart"
    severity = Severity.ERROR
    error_when_confirmed = True
    of_callers_tensors = True
    claims_before = ("DEV401",)  # mixed-device-operation
    wakes_at = any_of(called=wraps)

    def __init__(self) -> None:
        self._for_all = WrappedForAll()
        self._of_unknown_bases: set[str] = set()
        """Classes of the file: their bases may move what they build."""

    def begun(self, event: Begun) -> Iterable[Draft]:
        if event.owner is not None and event.owner.kind is ClassKind.UNKNOWN:
            self._of_unknown_bases.add(event.owner.qualname)
        self._for_all.begun(event)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._for_all.moved(event)
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        self._for_all.called(event)
        return ()

    def finish(self) -> Iterable[Draft]:
        return self._for_all.finish()

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        if event.clash.kind == WRAPPER_CLASH:
            yield _wrapped_elsewhere(event)
        elif event.callee in ("module", "loss"):
            draft = clash_draft(event)
            by_base = event.scope.class_name in self._of_unknown_bases and is_where_objects_work(event)
            yield replace(draft, confidence=Confidence.LOW) if by_base else draft


def _wrapped_elsewhere(event: DeviceMismatch) -> Draft:
    """`DataParallel` checks at its first call that the module is on `device_ids[0]`."""
    module, ids = event.offending, event.other
    wanted = device_of(ids.value)
    return Draft(
        node=event.node,
        scope=event.scope,
        message=f"{operand_and_placement(module)} but `DataParallel` needs it on {describe(wanted or UNKNOWN)}, "
        "the first of its `device_ids`; calling the wrapper fails",
        confidence=Confidence.HIGH,
        trace=trace_of(event),
        repair=Repair(Applicability.SUGGESTION, "put the module's own device first in `device_ids`"),
    )
