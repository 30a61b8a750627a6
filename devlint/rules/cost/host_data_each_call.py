"""The same host data is copied to the device on every forward.

## What it does

Finds, in `forward`: `torch.tensor([...], device=x.device)` of a list written out, a CPU tensor made there as the index
of a tensor that moves with the module, and a plain attribute that is moved at every use, `self.table.to(x.device)`.

## Why is this bad

Each call copies from pageable host memory, and the host waits for the copy. The data is the same every time: as a
buffer it would be on the device already. In most programs that costs little: this is a note, off by default.

## Example

```python
import torch
from torch import nn


class Normalise(nn.Module):
    def forward(self, images):
        mean = torch.tensor([0.48, 0.46, 0.41], device=images.device)
        return images - mean.view(1, 3, 1, 1)
```

## Use instead

```python
import torch
from torch import nn


class Normalise(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.48, 0.46, 0.41]).view(1, 3, 1, 1), persistent=False)

    def forward(self, images):
        return images - self.mean
```

## When it is right

- The data differs from call to call: sizes, lengths, what the input says.
- The result is kept: `self.table = self.table.to(x.device)` copies once.
- It is a number: PyTorch hands it over with the kernel.

## Fix safety

A suggestion: a buffer is a key of `state_dict`, unless it is registered with `persistent=False`.

## How a run confirms it

Two calls copy equal data from the host at this place.

## Known problems

A list that is built in `forward` from constants only is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import bare_creation, device_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Constant, Container, Tensor, Value
from devlint.placement.domain.lattice import CPU, UNKNOWN, Device, leaves
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.rules.rule import Rule
from devlint.semantics import Dim

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Created, Event, IndexedFromHost, Moved, Stored


class HostDataEachCall(Rule):
    code = "DEV702"
    name = "host-data-each-call"
    severity = Severity.NOTE

    def __init__(self) -> None:
        self._copies: list[Draft] = []
        self._kept: set[int] = set()
        """Expressions whose value is kept on an object: later calls find it there."""

    def created(self, event: Created) -> Iterable[Draft]:
        if event.scope.setting is Setting.FORWARD and event.factory.default == "data" and event.named is not None:
            data = event.call.positional[0].value if event.call.positional else None
            if data is not None and _is_written_out(data) and _leaves_host(device_of(event.value)):
                self._copy(event, "is copied from a Python list")
        return ()

    def indexed_from_host(self, event: IndexedFromHost) -> Iterable[Draft]:
        index = event.index.value
        step = bare_creation(index)
        plain = step is not None and step.factory is not None and not step.factory.random
        if device_of(index) != CPU or event.scope.setting is not Setting.FORWARD:
            return ()
        if plain and _has_dimensions(index) and _from_constants(index):
            self._copy(event, "has its CPU index copied", event.index.node)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        provenance = provenance_of(event.receiver)
        if event.scope.setting is not Setting.FORWARD or provenance is None or not event.moves:
            return ()
        kept = provenance.step.kind is StepKind.STORED and provenance.step.scope.setting is Setting.CONSTRUCTION
        if kept and device_of(event.receiver) == CPU and _leaves_host(event.target):
            self._copy(event, "is copied from a plain attribute")
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        if event.attribute is not None and event.value_node is not None:
            self._kept.add(id(event.value_node))
        return ()

    def _copy(self, event: Event, how: str, node: cst.CSTNode | None = None) -> None:
        place = event.node if node is None else node
        self._copies.append(
            Draft(
                node=place,
                scope=event.scope,
                message=f"{quoted(event.node, 'this')} {how} to the device on every call; a buffer is there already",
                confidence=Confidence.MEDIUM,
                trace=(DraftStep(event.node, event.scope, "copied here"),),
                repair=Repair(
                    Applicability.SUGGESTION,
                    "make it once, in the constructor, and keep it with `self.register_buffer(..., persistent=False)`",
                ),
            )
        )

    def finish(self) -> Iterable[Draft]:
        yield from (draft for draft in self._copies if id(draft.node) not in self._kept)


def _is_written_out(value: Value) -> bool:
    """A list or tuple of constants, also nested."""
    if not isinstance(value, Container) or value.keys is not None or value.rest is not None or not value.items:
        return False
    return all(isinstance(item, Constant) or _is_written_out(item) for item in value.items)


def _from_constants(value: Value) -> bool:
    """Whether the creation's arguments are all written out: the next call makes the same tensor."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    step = bare_creation(value)
    if step is None or not isinstance(step.node, cst.Call):
        return False
    names = [node for argument in step.node.args for node in descend(argument.value) if isinstance(node, cst.Name)]
    return all(name.value in ("torch", "True", "False", "None") for name in names)


def _has_dimensions(value: Value) -> bool:
    return isinstance(value, Tensor) and value.dim is not Dim.ZERO


def _leaves_host(device: Device | None) -> bool:
    return device is not None and device != UNKNOWN and CPU not in leaves(device)
