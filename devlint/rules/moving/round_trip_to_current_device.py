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

`.to(x.device)` is safe where a plain name is sent away and brought back in one chain. Elsewhere the name may have been
rebound in between, so it is a suggestion: keep `device = x.device` before the value leaves. There is no edit where the
function has a `device` already, or where the value does not leave on every path to its return.

## How a run confirms it

With `cuda:0` current and the input on `cuda:1`, the value comes back on `cuda:0`.

## Known problems

A path through numpy or a list is not followed, nor one through another function.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.changes import InsertBefore
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Module
from devlint.placement.syntax.nodes import dotted
from devlint.repairs.bound_names import is_always_before, is_mentioned
from devlint.repairs.device_expressions import Definitions
from devlint.rules.current_device import LosesTheDevice, RoundTrip, device_attribute, named_instead, round_trip
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.placement.domain.events import Begun, Moved


class RoundTripToCurrentDevice(LosesTheDevice):
    code = "DEV205"
    name = "round-trip-to-current-device"
    severity = Severity.WARNING
    claims_before = ("DEV310",)  # guard-loses-index

    def __init__(self) -> None:
        super().__init__()
        self._definitions = Definitions()

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._definitions.note(event)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        trip = round_trip(event)
        if trip is not None:
            self._report_later(_draft(event, trip, self._definitions.node_of(event.scope)))
        return ()


def _draft(event: Moved, trip: RoundTrip, function: cst.FunctionDef | None) -> Draft:
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
        repair=_repair(event, trip, function),
    )


def _confidence(event: Moved, trip: RoundTrip) -> Confidence:
    if event.scope.role in (Role.TEST, Role.BENCHMARK):
        return Confidence.LOW
    return Confidence.HIGH if trip.certain else Confidence.MEDIUM


def _repair(event: Moved, trip: RoundTrip, function: cst.FunctionDef | None) -> Repair:
    import libcst as cst

    if isinstance(event.receiver, Module):
        message = "keep the device of its parameters first, and move it back there"
        kept = _kept(event, trip, function, f"next({code_of(trip.source)}.parameters()).device")
        return Repair(Applicability.SUGGESTION, message, kept)
    device = device_attribute(trip.source)
    if trip.in_one_chain and isinstance(trip.source, cst.Name):
        return Repair(Applicability.SAFE, f"go back to where it was: `.to({device})`", named_instead(event, device))
    message = f"keep `device = {device}` first and write `.to(device)`"
    return Repair(Applicability.SUGGESTION, message, _kept(event, trip, function, device))


def _kept(event: Moved, trip: RoundTrip, function: cst.FunctionDef | None, device: str) -> tuple[Change, ...]:
    """The device in a name of its own before the value leaves."""
    if function is None or dotted(trip.source) is None or is_mentioned("device", function):
        return _of_the_root(event, trip)
    if not trip.in_one_chain and not is_always_before(trip.away.node, function, event.node):
        return ()
    return (InsertBefore(trip.away.node, f"device = {device}"), *named_instead(event, "device"))


def _of_the_root(event: Moved, trip: RoundTrip) -> tuple[Change, ...]:
    """In one chain: the name that it starts at, of which only methods are called."""
    import libcst as cst

    node: cst.BaseExpression = trip.source
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value
    if not trip.in_one_chain or not isinstance(node, cst.Name):
        return ()
    return named_instead(event, f"{node.value}.device")
