"""An optimizer allocates its state on the CPU, whatever device the parameter is on.

## What it does

Finds optimizers of one's own - classes derived from `torch.optim.Optimizer` - that keep a tensor made without a device
in their state: `self.state[p]["momentum"] = torch.zeros(p.shape)`. The confidence is medium where the size is taken
from a parameter, so that the tensor stands for one beside it, and low otherwise.

## Why is this bad

State is updated with the gradient, element by element. On the CPU that works; with the model on an accelerator the
first `step` raises "Expected all tensors to be on the same device".

## Example

```python
import torch
from torch.optim import Optimizer


class Momentum(Optimizer):
    def __init__(self, parameters, lr: float) -> None:
        super().__init__(parameters, {"lr": lr})

    def step(self) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if "momentum" not in state:
                    state["momentum"] = torch.zeros(p.shape)
                state["momentum"].mul_(0.9).add_(p.grad)
                p.data.sub_(group["lr"] * state["momentum"])
```

## Use instead

```python
import torch
from torch.optim import Optimizer


class Momentum(Optimizer):
    def __init__(self, parameters, lr: float) -> None:
        super().__init__(parameters, {"lr": lr})

    def step(self) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if "momentum" not in state:
                    state["momentum"] = torch.zeros_like(p)
                state["momentum"].mul_(0.9).add_(p.grad)
                p.data.sub_(group["lr"] * state["momentum"])
```

## When it is right

- `torch.zeros_like(p)`, `p.new_zeros(...)`, `device=p.device`, a clone of the gradient.
- A 0-dim step count: `torch.tensor(0.0)` is read as a number.
- The tensor is moved before it is kept.

## Fix safety

A suggestion: `torch.zeros_like(p)` also takes the parameter's dtype, which changes the state of half-precision models.

## How a run confirms it

A step after the model was moved clashes, with the state born at this place.

## Known problems

State that another class keeps, as wrappers of optimizers do, is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.changes import with_argument
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import bare_creation, code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.domain.abstract_values import Container, Tensor, Value
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.provenance import Step
from devlint.rules.rule import Rule
from devlint.semantics import Dim

if TYPE_CHECKING:
    from devlint.placement.domain.events import Begun, DeviceMismatch, Stored

_SIZED = re.compile(r"\.(?:size|numel|dim)\(|\.ndim\b|shape\b")
"""The size of something: ``p.size()``, and ``grad_shape``, by which names are called that hold one."""


class OptimizerStateDevice(Rule):
    code = "DEV505"
    name = "optimizer-state-device"
    severity = Severity.WARNING
    of_callers_models = True

    def __init__(self) -> None:
        self._optimizers: set[str] = set()
        """Definitions that are methods of optimizers."""
        self._kept: list[Draft] = []
        self._clashed: set[int] = set()
        """Creations that a clash was seen of: those are a creation's matter."""

    def begun(self, event: Begun) -> Iterable[Draft]:
        if event.owner is not None and event.owner.kind is ClassKind.OPTIMIZER:
            self._optimizers.add(event.scope.qualname)
        return ()

    def device_mismatch(self, event: DeviceMismatch) -> Iterable[Draft]:
        steps = (bare_creation(operand.value) for operand in (event.offending, event.other))
        self._clashed.update(id(step.node) for step in steps if step is not None)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        if event.scope.qualname in self._optimizers and "state" in event.target:
            for value in _parts(event.value):
                step = bare_creation(value)
                if step is not None and isinstance(value, Tensor) and value.device == CPU:
                    self._keep(event, step, value)
        return ()

    def _keep(self, event: Stored, step: Step, value: Tensor) -> None:
        if value.dim is Dim.ZERO:
            # Read as a number, as the step counts of PyTorch's own are (fixture `beside_the_parameter`).
            return
        made = quoted(step.node, f"`{step.name}`")
        sized = _SIZED.search(code_of(step.node)) is not None
        self._kept.append(
            Draft(
                node=step.node,
                scope=step.scope,
                message=f"{made} is created on the CPU and kept as the optimizer's `{event.target}`, but the "
                "parameters are where their model is; the step fails when that is an accelerator",
                confidence=Confidence.MEDIUM if sized else Confidence.LOW,
                trace=(DraftStep(step.node, step.scope, "made here", "cpu"),
                       DraftStep(event.node, event.scope, "kept here")),
                repair=_repair(step),
            )
        )  # fmt: skip

    def finish(self) -> Iterable[Draft]:
        yield from (draft for draft in self._kept if id(draft.node) not in self._clashed)


def _repair(step: Step) -> Repair:
    """On the device of what gives it its size."""
    sized = re.search(r"([A-Za-z_][\w.]*)(?:\.shape|\.size\(|\.numel\()", code_of(step.node))
    if sized is None or step.factory is None or not step.factory.takes_device or step.factory.legacy:
        return Repair(Applicability.SUGGESTION, "`torch.zeros_like(p)`, or pass `device=p.device`")
    device = f"{sized[1]}.device"
    message = f"`torch.zeros_like({sized[1]})`, or pass `device={device}`"
    return Repair(Applicability.SUGGESTION, message, with_argument(step.node, "device", device))


def _parts(value: Value) -> tuple[Value, ...]:
    return value.items if isinstance(value, Container) else (value,)
