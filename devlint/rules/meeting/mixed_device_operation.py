"""Tensors on different devices meet in one operation.

## What it does

Finds arithmetic, comparisons, matrix products, `torch.cat`, `torch.stack`, `torch.where`, in-place operations, `out=`
and functional calls whose operands are on different devices, where nothing in the operands' history explains it
better: no tensor made without a device, no discarded move, no plain attribute. Then somebody put one operand there on
purpose, and the operation is where the two plans meet. What is brought to the CPU may meet an argument as it came, for
a function may ask for CPU arguments; it may not where the same function brings something else of that argument to the
CPU.

A class of transformers or diffusers that names `_no_split_modules` says that it can be spread over several devices.
Then a parameter that the module holds itself, and not in a submodule, is moved nowhere: beside what a submodule gives
back it is a warning.

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

- The parameter is brought along: `self.table.to(x.device)`.
- What is brought to the CPU right here meets an argument, or an input of `forward`: its contract may want it there. The
  confidence is low.
- It is called so, `lengths_cpu`, and meets what a caller handed in: low.

Every mix that PyTorch allows is silent, by the tables of `devlint.semantics`:

- one 0-dim CPU tensor beside accelerator tensors in element-wise operations, though not as their in-place target;
- any number of them in `torch.where`;
- `copy_`, `a[1:3] = b` and the other operations that copy across devices.

## Fix safety

A suggestion: move the offending operand with `.to(other.device)`. Which of the two should move is the program's choice.

## How a run confirms it

The operation raises, and neither operand derives from a value that was repaired earlier.

## Known problems

`"cuda"` against `"cuda:1"` is not reported unless the current device is known on every path.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep
from devlint.drafts.trace import draft_step, provenance_of
from devlint.drafts.wording import describe_operand, quoted
from devlint.finding import Confidence, Severity
from devlint.placement.domain.provenance import Step, StepKind
from devlint.rules.meeting.operation_rules import bring_over, clash_draft
from devlint.rules.rule import Rule

if TYPE_CHECKING:
    from devlint.placement.domain.events import DeviceMismatch, MismatchOperand, SplitOperands
    from devlint.placement.domain.scope import Scope


class MixedDeviceOperation(Rule):
    code = "DEV401"
    name = "mixed-device-operation"
    severity = Severity.ERROR
    error_when_confirmed = True
    of_callers_tensors = True

    def __init__(self) -> None:
        self._split: set[tuple[int, Scope]] = set()
        """Parameters and results already reported to part when the model is split, by definition."""

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        yield clash_draft(event)

    def split_operands(self, event: SplitOperands) -> Iterable[Draft]:
        own, other = event.own, event.other
        parameter, result = _step(own, StepKind.REGISTERED), _step(other, StepKind.COMPUTED)
        if parameter is None or result is None:
            return
        # One result beside several parameters, or one parameter in several operations, is brought along once.
        seen = {(id(step.node), event.scope) for step in (parameter, result)}
        reported = not seen.isdisjoint(self._split)
        self._split |= seen
        if reported:
            return
        submodule = f"`{result.name}`" if result.name else "a submodule"
        failing = quoted(event.node, event.operation.name)
        yield Draft(
            node=own.node,
            scope=event.scope,
            severity=Severity.WARNING,
            message=f"`{parameter.name}` is held by the module itself but {describe_operand(other)} is what "
            f"{submodule} gives back; {failing} fails when the model is split over devices, as its "
            "`_no_split_modules` allows",
            confidence=Confidence.MEDIUM,
            trace=(
                replace(draft_step(parameter), message=f"`{parameter.name}`: held here", device="a device of its own"),
                replace(draft_step(result), device=f"the device of {submodule}"),
                DraftStep(event.node, event.scope, "they meet here"),
            ),
            repair=bring_over(own, other),
        )


def _step(operand: MismatchOperand, kind: StepKind) -> Step | None:
    provenance = provenance_of(operand.value)
    return provenance.find(kind) if provenance is not None else None
