"""A training loop waits for the accelerator in every iteration.

## What it does

Finds `.item()`, `.tolist()`, `float(t)`, `bool(t)`, `if t:`, `print(t)`, `.cpu()`, `nonzero` and the other reads that
need a tensor's data on the host, inside loops that compute gradients. In other loops the confidence is low.

## Why is this bad

The host queues work and runs ahead of the accelerator. A read of a value has to wait until everything queued before it
is done; after that the accelerator waits for the host. With small batches that costs a third of the time and more. It
costs nothing where the step is long: this is a note, off by default.

## Example

```python
import torch
from torch import nn


def train(model: nn.Module, batches, optimizer: torch.optim.Optimizer, device: torch.device) -> float:
    total = 0.0
    for x in batches:
        loss = model(x.to(device)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total
```

## Use instead

```python
import torch
from torch import nn


def train(model: nn.Module, batches, optimizer: torch.optim.Optimizer, device: torch.device) -> float:
    total = torch.zeros((), device=device)
    for x in batches:
        loss = model(x.to(device)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total.item()
```

## When it is right

- Every so many steps: `if step % 100 == 0:`.
- The value decides what the next step does, and nothing else will do.
- The tensor is on the CPU.

## Fix safety

A suggestion: where the value is only added up or logged, keep it as a detached tensor and read it after the loop.

## How a run confirms it

The profile shows a synchronisation at this place in every iteration.

## Known problems

Reads in functions that the loop calls are not followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint import semantics
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import device_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Opaque, Tensor, Value
from devlint.placement.domain.lattice import Decided, Device, Known, describe, is_given, leaves
from devlint.rules.cost.loops import Loops
from devlint.rules.rule import Rule
from devlint.semantics import Operation

if TYPE_CHECKING:
    from devlint.placement.domain.events import Called, Event, HostRead, LoopEntered, LoopLeft, Tested

_GRADIENTS = (".backward", "torch.autograd.backward")


class HostSyncInLoop(Rule):
    code = "DEV703"
    name = "host-sync-in-loop"
    severity = Severity.NOTE

    def __init__(self) -> None:
        self._loops: Loops[Draft] = Loops()

    def loop_entered(self, event: LoopEntered) -> Iterable[Draft]:
        self._loops.enter(event)
        return ()

    def loop_left(self, event: LoopLeft) -> Iterable[Draft]:
        loop = self._loops.leave(event)
        outer = self._loops.innermost
        if not loop.trains and outer is not None:
            # Whether it is part of a training loop is decided by the loop around it.
            outer.seen += loop.seen
            return
        for draft in loop.seen:
            yield draft if loop.trains else _unsure(draft)

    def host_read(self, event: HostRead) -> Iterable[Draft]:
        self._read(event, event.value, f"`{event.reader}`", event.arms)
        return ()

    def tested(self, event: Tested) -> Iterable[Draft]:
        if isinstance(event.value, Tensor):
            self._read(event, event.value, "the test of its truth", ())
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        if event.name in _GRADIENTS:
            self._loops.train()
        elif event.name.startswith(".") and isinstance(event.receiver, Tensor):
            operation = semantics.method(event.name[1:])
            read_already = event.name in (".item", ".tolist", ".numpy")
            if isinstance(operation, Operation) and operation.synchronises and not read_already:
                self._read(event, event.receiver, f"`{event.name}()`", event.arms)
        return ()

    def _read(self, event: Event, value: Value, reader: str, arms: tuple[Decided, ...]) -> None:
        loop = self._loops.innermost
        device = device_of(value)
        if loop is None or device is None or not _is_on_accelerator(value, device) or _now_and_then(arms):
            return
        draft = Draft(
            node=event.node,
            scope=event.scope,
            message=f"{quoted(event.node, 'this')} waits for the accelerator in every iteration: {reader} needs the "
            "data on the host",
            confidence=Confidence.MEDIUM,
            trace=(DraftStep(event.node, event.scope, "read on the host here", describe(device)),),
            repair=Repair(Applicability.SUGGESTION, "keep the detached tensor and read it after the loop"),
        )
        loop.seen.append(draft)


def _unsure(draft: Draft) -> Draft:
    from dataclasses import replace

    return replace(draft, confidence=Confidence.LOW)


def _is_on_accelerator(value: Value, device: Device) -> bool:
    """Where an accelerator is in use, the value is there: not fresh from a loader, and not of unknown type."""
    if isinstance(value, Opaque) and not (value.tensorlike or value.moved):
        return False
    found = leaves(device)
    return bool(found) and all((isinstance(leaf, Known) and not leaf.on_cpu) or is_given(leaf) for leaf in found)


def _now_and_then(arms: tuple[Decided, ...]) -> bool:
    """`if step % 100 == 0:`, `if verbose:`: not in every iteration."""
    return any(word in d.guard.text.lower() for d in arms for word in ("%", "log", "verbose", "debug", "print"))
