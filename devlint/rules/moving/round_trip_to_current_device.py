"""A value goes to the CPU and comes back with `.cuda()`, which is the current device and not where it came from.

## What it does

Finds values that a function sends to the CPU and brings back without saying where to: `x.cpu()...cuda()` and
`.to("cuda")`, in one chain or through names.

## Why is this bad

`.cuda()` means the current device, most often `cuda:0`. A tensor that lived on `cuda:1` comes back on `cuda:0` and
clashes with everything else its caller has. With one GPU nothing shows; where the value came from another kind of
accelerator, the line raises.

## Example

```python
import torch


def running_total(x: torch.Tensor) -> torch.Tensor:
    return x.cpu().cumsum(dim=0).cuda()
```

## Use instead

```python
import torch


def running_total(x: torch.Tensor) -> torch.Tensor:
    return x.cpu().cumsum(dim=0).to(x.device)
```

## When it is right

- The same function put the value on the current device before: `x = x.cuda()`.
- The current device is set from the value: `with torch.cuda.device(x.device):`.
- A batch fresh from a loader was on the CPU all along.
- The way back names a device: `.to(device)`, `.cuda(index)`.
- In tests and benchmarks the confidence is low.

## Fix safety

`.to(x.device)` is safe in one chain that starts at a plain name. Elsewhere the name may have been rebound on the way,
so it is a suggestion: keep `device = x.device` before the value leaves.

## How a run confirms it

With `cuda:0` current and the input on `cuda:1`, the value comes back on `cuda:0`.

## Known problems

A way that leads through numpy or a list is not followed, nor one that leads through another function.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.values import Module
from devlint.rules.current_device import LosesTheDevice, RoundTrip, device_expression, named_instead, round_trip
from devlint.rules.rule import Draft, DraftStep, Repair
from devlint.rules.wording import quoted
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.events import Moved


class RoundTripToCurrentDevice(LosesTheDevice):
    code = "DEV205"
    name = "round-trip-to-current-device"
    severity = Severity.WARNING

    def moved(self, event: Moved) -> Iterable[Draft]:
        trip = round_trip(event)
        if trip is not None:
            self.tell(_draft(event, trip))
        return ()


def _draft(event: Moved, trip: RoundTrip) -> Draft:
    back = quoted(event.node, f"`.{event.method}()`")
    source = quoted(trip.source, "the value")
    return Draft(
        node=event.node,
        scope=event.scope,
        message=f"{back} returns to the current device ({event.target}), not to the one {source} came from",
        confidence=_confidence(event, trip),
        trace=(
            DraftStep(trip.away.node, trip.away.scope, f"{source} goes to the CPU here", "cpu"),
            DraftStep(event.node, event.scope, "and comes back here", str(event.target)),
        ),
        repair=_repair(event, trip),
    )


def _confidence(event: Moved, trip: RoundTrip) -> Confidence:
    if event.scope.role in (Role.TEST, Role.BENCHMARK):
        return Confidence.LOW
    return Confidence.HIGH if trip.certain else Confidence.MEDIUM


def _repair(event: Moved, trip: RoundTrip) -> Repair:
    import libcst as cst

    if isinstance(event.receiver, Module):
        return Repair(Applicability.SUGGESTION, "keep the device of its parameters first, and move it back there")
    device = device_expression(trip.source)
    if trip.in_one_chain and isinstance(trip.source, cst.Name):
        return Repair(Applicability.SAFE, f"go back to where it was: `.to({device})`", named_instead(event, device))
    return Repair(Applicability.SUGGESTION, f"keep `device = {device}` first and write `.to(device)`")
