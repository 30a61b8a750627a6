"""A list, a dict, an optimizer or a data loader is moved as if it were a tensor.

## What it does

Finds `.to(...)`, `.cuda()`, `.cpu()` and `.pin_memory()` on a plain Python list, tuple, set or dict, and on what is
certainly an optimizer, a scheduler of the learning rate, a `DataLoader`, a `GradScaler`, a `torch.Generator`. And it
finds `x.device = device`, of a tensor.

## Why is this bad

They have no such methods, and a tensor's device is not to be written: the line raises AttributeError. Where it stands
under a test for an accelerator, a run on the CPU never gets there.

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
- A class of another library, or of the project: it may have a `to` of its own.
- What it is was handed in: an annotation such as `dict[str, Tensor]` is no promise, and nothing is reported.

## Fix safety

A suggestion: each item is moved. Items that are no tensors need a test of their own. For the other objects there is no
edit: what they hold follows the parameters or comes with the batches.

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
from devlint.placement.domain.abstract_values import Container, Evidence, Tensor
from devlint.placement.domain.events import Fate
from devlint.rules.moving.without_transfers import TRANSFERS, WithoutTransfers
from devlint.rules.rule import Rule
from devlint.rules.waking import always, any_of

if TYPE_CHECKING:
    from devlint.placement.domain.events import Begun, Called, Moved, Stored

CONTAINER_HAS_NONE = ("to", "cuda", "cpu", "pin_memory")


class ContainerTransfer(Rule):
    code = "DEV204"
    name = "container-transfer"
    severity = Severity.ERROR
    error_when_confirmed = True
    wakes_at = any_of(moved=always, stored=lambda event: event.attribute == "device")

    def __init__(self) -> None:
        self._stored: set[tuple[str, str]] = set()
        """Definitions and the places they store to."""
        self._objects = WithoutTransfers()

    @staticmethod
    def wakes_at_call(name: str) -> bool:
        return name in TRANSFERS

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._objects.begun(event)
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        self._objects.called(event)
        return ()

    def finish(self) -> Iterable[Draft]:
        return self._objects.drafts()

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._stored.add((event.scope.qualname, event.target))
        self._objects.stored(event)
        owner = event.owner
        if event.attribute == "device" and isinstance(owner, Tensor) and owner.evidence is Evidence.CERTAIN:
            yield _written(event)

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


def _written(event: Stored) -> Draft:
    """`x.device = device`: "attribute 'device' of 'torch._C.TensorBase' objects is not writable"."""
    tensor = event.target.removesuffix(".device")
    said = code_of(event.value_node) if event.value_node is not None else "device"
    return Draft(
        node=event.node,
        scope=event.scope,
        message=f"`{event.target}` of a tensor is not to be written; the assignment raises AttributeError, and moves "
        "nothing",
        confidence=Confidence.HIGH,
        repair=Repair(Applicability.SUGGESTION, f"assign what a transfer gives: `{tensor} = {tensor}.to({said})`"),
    )


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
