"""A module keeps submodules or parameters in a plain list, tuple or dict, so they neither move nor train.

## What it does

Finds plain containers of modules or parameters stored on `self` of a module and used in another method, where nothing
registers them.

## Why is this bad

`nn.Module` registers what is assigned to an attribute, not what lies inside a plain list. `.to()` does not move such
submodules, `parameters()` does not name them, `state_dict()` does not save them. On an accelerator the first call
raises; on the CPU the model runs and silently trains without them.

## Example

```python
import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.floors = [nn.Linear(width, width) for _ in range(depth)]

    def forward(self, x):
        for floor in self.floors:
            x = torch.relu(floor(x))
        return x
```

## Use instead

```python
import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.floors = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        for floor in self.floors:
            x = torch.relu(floor(x))
        return x
```

## When it is right

- The same modules also go through `add_module`, `nn.ModuleList(self.floors)` or `nn.Sequential(*floors)`.
- The modules hold neither parameters nor buffers.
- The class is no module.

## Fix safety

Unsafe: `nn.ModuleList`, `nn.ModuleDict` and `nn.ParameterList` add keys to `state_dict`.

## How a run confirms it

The submodules are missing from `modules()`, and the model's parameters are on more than one device after `.to()`.

## Known problems

Registration by a function of another file is not seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.values import Container, Kind, Module, Tensor, Value
from devlint.rules.causes import trace_of
from devlint.rules.rule import Draft, DraftStep, Repair, Rule
from devlint.rules.state.unregistered_tensor import stored_step
from devlint.rules.wording import called, device_of, failing, stands, when

if TYPE_CHECKING:
    from devlint.placement.classes import AttributeFact
    from devlint.placement.events import ClassWalked, Met

CONSTRUCTOR = "__init__"


class UnregisteredModule(Rule):
    code = "DEV502"
    name = "unregistered-module"
    severity = Severity.ERROR

    def claim(self, event: Met) -> Iterable[Draft]:
        for mine, theirs in ((event.stray, event.other), (event.other, event.stray)):
            step = stored_step(mine.value, event.scope)
            if step is None or not _is_state(mine.value):
                continue
            yield Draft(
                node=step.node,
                scope=step.scope,
                message=f"{called(mine)} is kept in a plain container, so it stays on the CPU when the module moves, "
                f"but {called(theirs)} {stands(theirs)}; {failing(event)} fails{when(device_of(theirs.value))}",
                trace=trace_of(event),
                repair=Repair(Applicability.UNSAFE, "keep it in an `nn.ModuleList` or `nn.ParameterList`"),
            )
            return

    def class_walked(self, event: ClassWalked) -> Iterable[Draft]:
        facts = event.facts
        if not facts.info.is_module:
            return
        for fact in facts.attributes.values():
            if not isinstance(fact.value, Container) or fact.registered or not fact.loaded_in - {CONSTRUCTOR}:
                continue
            kept = _kept(fact.value)
            if kept:
                yield _draft(fact, kept, fact.value.keys is not None)


def _kept(container: Container) -> str:
    """What of a module's state lies in the container: "modules", "parameters", or nothing."""
    for value in _inside(container):
        if isinstance(value, Module) and value.holds_state:
            return "modules"
        if isinstance(value, Tensor) and value.kind is Kind.PARAMETER:
            return "parameters"
    return ""


def _inside(container: Container) -> Iterator[Value]:
    for value in (*container.items, *((container.rest,) if container.rest is not None else ())):
        if isinstance(value, Container):
            yield from _inside(value)
        else:
            yield value


def _is_state(value: Value) -> bool:
    return isinstance(value, Module) or (isinstance(value, Tensor) and value.kind is Kind.PARAMETER)


def _draft(fact: AttributeFact, kept: str, keyed: bool) -> Draft:
    holder = {"modules": "Module", "parameters": "Parameter"}[kept] + ("Dict" if keyed else "List")
    readers = ", ".join(f"`{name}`" for name in sorted(fact.loaded_in - {CONSTRUCTOR}))
    return Draft(
        node=fact.node,
        scope=fact.scope,
        message=f"`self.{fact.name}` keeps {kept} in a plain container: `.to()` does not move them and `parameters()` "
        f"does not name them; {readers} fails when the model is on an accelerator",
        confidence=Confidence.HIGH,
        trace=(DraftStep(fact.node, fact.scope, "kept in a plain container here", "cpu"),),
        repair=Repair(Applicability.UNSAFE, f"`self.{fact.name} = nn.{holder}(...)` (adds keys to `state_dict`)"),
    )
