"""A list, tuple or dict is moved as if it were a tensor.

## What it does

Finds `.to(...)`, `.cuda()`, `.cpu()` and `.pin_memory()` on a plain Python list, tuple, set or dict.

## Why is this bad

Containers have no such methods: the line raises AttributeError. Where it stands under a test for an accelerator, a run
on the CPU never gets there.

## Example

```python
import torch


def batch_of(images: list[torch.Tensor], labels: torch.Tensor, device: torch.device):
    batch = {"images": torch.stack(images), "labels": labels}
    return batch.to(device)
```

## Use instead

```python
import torch


def batch_of(images: list[torch.Tensor], labels: torch.Tensor, device: torch.device):
    batch = {"images": torch.stack(images), "labels": labels}
    return {name: tensor.to(device) for name, tensor in batch.items()}
```

## When it is right

- The object only looks like a dict: a `BatchEncoding`, a `TensorDict`, a PyG `Data`, a class with a `to` of its own.
- The container became a tensor before: `xs = torch.stack(xs)`.
- What it is was handed in: an annotation such as `dict[str, Tensor]` is no promise, and nothing is reported.

## Fix safety

A suggestion: each item is moved. Items that are no tensors need a test of their own.

## How a run confirms it

The line raises AttributeError.

## Known problems

An attribute that another method may have replaced by something else is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Container
from devlint.placement.domain.events import Fate
from devlint.rules.rule import Rule

if TYPE_CHECKING:
    from devlint.placement.domain.events import Moved, Stored

CONTAINER_HAS_NONE = ("to", "cuda", "cpu", "pin_memory")


class ContainerTransfer(Rule):
    code = "DEV204"
    name = "container-transfer"
    severity = Severity.ERROR

    def __init__(self) -> None:
        self._stored: set[tuple[str, str]] = set()
        """Definitions and the places they store to."""

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._stored.add((event.scope.qualname, event.target))
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        value = event.receiver
        if not isinstance(value, Container) or value.node is None or event.method not in CONTAINER_HAS_NONE:
            return
        if not self._is_still_there(event):
            return
        kind = _kind(value)
        yield Draft(
            node=event.node,
            scope=event.scope,
            message=f"{quoted(event.receiver_node, 'the receiver')} is a {kind}, which has no `.{event.method}()`; "
            "the call raises AttributeError",
            confidence=Confidence.HIGH,
            trace=(DraftStep(value.node, event.scope, f"the {kind} is made here"),) if _is_apart(event, value) else (),
            repair=_repair(event, value),
        )

    def _is_still_there(self, event: Moved) -> bool:
        """An attribute may hold another thing by now, unless this definition put the container there."""
        if "." not in event.receiver_text:
            return True
        return (event.scope.qualname, event.receiver_text) in self._stored


def _kind(value: Container) -> str:
    import libcst as cst

    if isinstance(value.node, cst.GeneratorExp):
        return "generator"
    return "set" if isinstance(value.node, cst.SetComp) else value.type


def _is_apart(event: Moved, value: Container) -> bool:
    return value.node is not event.receiver_node


def _repair(event: Moved, value: Container) -> Repair:
    items = _item_by_item(event, value)
    written = event.fate == Fate.USED and "#" not in items
    changes = (Replace(event.node, items),) if written else ()
    return Repair(Applicability.SUGGESTION, f"move its items: `{items}`", changes)


def _item_by_item(event: Moved, value: Container) -> str:
    call = f".{event.method}({', '.join(code_of(argument.node) for argument in event.call.arguments)})"
    kept = event.receiver_text
    if value.keys is not None:
        return f"{{name: item{call} for name, item in {kept}.items()}}"
    made = f"[item{call} for item in {kept}]"
    return f"tuple({made[1:-1]})" if value.type == "tuple" else made
