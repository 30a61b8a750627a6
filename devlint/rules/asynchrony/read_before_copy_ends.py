"""A copy to the host that does not block is read before it has arrived.

## What it does

Finds copies from an accelerator to the CPU with `non_blocking=True` whose result is read on the host, by `.item()`,
`.tolist()`, printing or computing with it, or returned as an array, with no synchronisation between.

## Why is this bad

The copy is only queued. The host goes on at once and reads memory that has not been written yet: zeros, or what was
there before. The numbers are wrong now and then, and no error is raised.

## Example

```python
import numpy as np
import torch


def fetch() -> np.ndarray:
    scores = torch.ones(1 << 20, device="cuda").cumsum(0)
    host = scores.to("cpu", non_blocking=True)
    return host.numpy()
```

## Use instead

```python
import numpy as np
import torch


def fetch() -> np.ndarray:
    scores = torch.ones(1 << 20, device="cuda").cumsum(0)
    host = scores.to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    return host.numpy()
```

Without work to do in the meantime, `scores.cpu()` says the same more simply.

## When it is right

- `torch.cuda.synchronize()`, `stream.synchronize()` or `event.synchronize()` stands between the copy and the read.
- The copy goes the other way: what runs on the accelerator is ordered after it.
- The copy is only handed on, as a tensor, in a view or on `self`: who reads it may synchronise. So may the callers of
  a function that returns its array, where they are in sight.

## Fix safety

Dropping `non_blocking=True` is safe: the copy then ends before the call does.

## How a run confirms it

The host reads the copy before any call has waited for the device. What it reads is a matter of timing, so the order of
the calls is judged and not the values.

## Known problems

PyTorch copies to pageable memory in a way that happens to block in many versions; nothing promises it. Where what is
copied is an argument, the caller may have it on the CPU, and there is nothing to wait for: that is a warning of medium
confidence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import DropArgument
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.lattice import CPU, Anchor, SameAs, is_accelerator, leaves
from devlint.placement.domain.provenance import StepKind
from devlint.rules.rule import Rule
from devlint.rules.waking import always, any_of

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Called, HostRead
    from devlint.placement.domain.provenance import Provenance


class ReadBeforeCopyEnds(Rule):
    code = "DEV602"
    name = "read-before-copy-ends"
    severity = Severity.ERROR
    error_when_confirmed = True
    wakes_at = any_of(host_read=always)

    def __init__(self) -> None:
        self._arrays: list[HostRead] = []
        """Arrays of pending copies that a definition returns."""
        self._called: set[str] = set()
        """What is called in the file, by its last name."""

    def called(self, event: Called) -> Iterable[Draft]:
        self._called.add(event.name.rsplit(".", 1)[-1])
        return ()

    def host_read(self, event: HostRead) -> Iterable[Draft]:
        if event.in_flight and event.reader == "return":
            self._arrays.append(event)
        elif event.in_flight:
            yield self._draft(event)

    def finish(self) -> Iterable[Draft]:
        """An array tells nobody that it is pending, unless its callers are in sight: their reads are judged."""
        for event in self._arrays:
            if event.scope.qualname.rsplit(".", 1)[-1] not in self._called:
                yield replace(self._draft(event), confidence=Confidence.MEDIUM)

    @staticmethod
    def _draft(event: HostRead) -> Draft:
        provenance = provenance_of(event.value)
        copy = provenance.find(StepKind.MOVED, StepKind.UNWRAPPED) if provenance is not None else None
        returned = event.reader == "return"
        words = "its array is returned here" if returned else f"`{event.reader}` reads it here"
        read = DraftStep(event.node, event.scope, words, "cpu")
        tensor = quoted(event.expression, "the copy") if event.expression is not None else "the copy"
        node, scope = (event.node, event.scope) if copy is None else (copy.node, copy.scope)
        return Draft(
            node=node,
            scope=scope,
            message=_message(quoted(node, "this copy"), event.reader, tensor),
            confidence=Confidence.HIGH if _comes_from_an_accelerator(provenance) else Confidence.MEDIUM,
            trace=(DraftStep(node, scope, "the copy is queued here", "cpu"), read),
            repair=Repair(Applicability.SAFE, "drop `non_blocking=True`", _drop_flag(node)),
        )


def _comes_from_an_accelerator(provenance: Provenance | None) -> bool:
    """Whether what is copied was where a module works, or on an accelerator by name: an argument may be on the CPU."""
    before = [step for step in provenance or () if step.kind not in (StepKind.MOVED, StepKind.UNWRAPPED)]
    moved = [step for step in provenance or () if step.kind is StepKind.MOVED and step.device != CPU]
    places = [leaf for step in (*before, *moved) for leaf in leaves(step.device)]
    return any(
        leaf.symbol.anchor is Anchor.MODULE if isinstance(leaf, SameAs) else is_accelerator(leaf) for leaf in places
    )


def _message(copy: str, reader: str, tensor: str) -> str:
    if reader == "return":
        return (
            f"{copy} does not wait for its data, and an array of its memory is returned with no synchronisation "
            "between; the caller may see memory that is not written yet"
        )
    return (
        f"{copy} does not wait for its data, and `{reader}` reads {tensor} on the host with no synchronisation "
        "between; it may see memory that is not written yet"
    )


def _drop_flag(node: cst.CSTNode) -> tuple[DropArgument, ...]:
    import libcst as cst

    given = node.args if isinstance(node, cst.Call) else ()
    flags = [arg.value for arg in given if arg.keyword is not None and arg.keyword.value == "non_blocking"]
    return (DropArgument(node, flags[0]),) if isinstance(node, cst.Call) and flags else ()
