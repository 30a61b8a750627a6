"""A module is built and called in one function, and never moved to where its input is.

## What it does

Finds layers that are constructed where they are called, on tensors that are or may be on an accelerator.

## Why is this bad

A new module is on the CPU. The call raises "Expected all tensors to be on the same device" as soon as the input is on
an accelerator. In `forward` the layer is new at every call as well: no optimizer sees it, and nothing is learned.

## Example

```python
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        head = nn.Linear(8, 2)
        return head(self.body(x))
```

## Use instead

```python
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x))
```

## When it is right

- The module holds no parameter and no buffer: `nn.ReLU()(x)`, `nn.Softmax(dim=-1)(x)`, pooling, most losses.
- It is moved before the call, made with `device=`, or under a device context or default.
- Its weights are replaced by tensors of the input's device.
- It is handed to something that may move it, or its class moves its inputs itself.

## Fix safety

A suggestion: built once in `__init__`, or moved to the input's device before the call.

## How a run confirms it

The module's first operation clashes.

## Known problems

Classes of other packages are judged where devlint has a row for them (transformers, diffusers, timm, torchvision and
others); of the rest it is not known what they hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint import semantics
from devlint.drafts.changes import suffixed
from devlint.drafts.draft import Draft, Repair
from devlint.drafts.trace import provenance_of, trace_of
from devlint.drafts.wording import (
    code_of,
    describe_operand,
    device_expression_of,
    device_of,
    failure,
    operand_and_placement,
    quoted,
)
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Module
from devlint.placement.domain.lattice import Anchor, Known, SameAs, leaves
from devlint.placement.domain.provenance import Step, StepKind
from devlint.placement.domain.scope import Setting
from devlint.rules.rule import Rule
from devlint.rules.waking import always, any_of
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import Called, DeviceMismatch, MismatchOperand, Stored

MODULE_CALL = "module"
KEEPS = (".parameters", ".load_state_dict", ".state_dict")
"""What queries a module for its state keeps or replaces its weights: it is not new for nothing."""


class ModuleBuiltInCall(Rule):
    code = "DEV104"
    name = "module-built-in-call"
    severity = Severity.ERROR
    error_when_confirmed = True
    claims_before = ("DEV201",)  # discarded-transfer
    wakes_at = any_of(device_mismatch=always)

    def __init__(self) -> None:
        self._kept: set[tuple[str, str]] = set()
        """Definitions and the modules whose weights matter there."""
        self._handed_on: set[tuple[str, str]] = set()
        """Definitions and the modules they give to something else, which may move them."""

    def stored(self, event: Stored) -> Iterable[Draft]:
        if "." in event.target:
            self._kept.add((event.scope.qualname, event.target.split(".", 1)[0]))
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        import libcst as cst

        function = event.call.node.func
        scope = event.scope.qualname
        if event.name in KEEPS and isinstance(function, cst.Attribute) and isinstance(event.receiver, Module):
            self._kept.add((scope, code_of(function.value)))
        for argument in event.call.arguments:
            if isinstance(argument.value, Module) and isinstance(argument.node, (cst.Name, cst.Attribute)):
                self._handed_on.add((scope, code_of(argument.node)))
        return ()

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        if event.callee != MODULE_CALL:
            return
        for mine, theirs in ((event.offending, event.other), (event.other, event.offending)):
            step = _built_here(event, mine)
            if step is None:
                continue
            yield Draft(
                node=step.node,
                scope=step.scope,
                message=self._message(event, mine, theirs, step),
                confidence=self._confidence(event, mine, theirs),
                trace=trace_of(event),
                repair=_repair(event, mine, theirs, step),
            )
            return

    def _message(self, event: DeviceMismatch, mine: MismatchOperand, theirs: MismatchOperand, step: Step) -> str:
        built = quoted(step.node, f"a `{step.name}`")
        kept = (event.scope.qualname, code_of(mine.node)) in self._kept
        once = kept or step.scope.setting is Setting.MODULE_LEVEL
        untrained = "" if once or not _is_trained(step) else ", with new weights at every call"
        return (
            f"{built} is built here{untrained} and stays on the CPU, but {operand_and_placement(theirs)}; "
            f"{failure(event, theirs)}"
        )

    def _confidence(self, event: DeviceMismatch, mine: MismatchOperand, theirs: MismatchOperand) -> Confidence:
        if event.scope.setting is Setting.HOST or (event.scope.qualname, code_of(mine.node)) in self._handed_on:
            return Confidence.LOW
        places = leaves(device_of(theirs.value) or Known("cpu"))
        if any(_is_certain(place) for place in places):
            return Confidence.HIGH
        elsewhere = event.scope.role in (Role.TEST, Role.SCRIPT, Role.NOTEBOOK) or event.callers_on_cpu
        return Confidence.LOW if elsewhere else Confidence.MEDIUM


def _is_trained(step: Step) -> bool:
    """Whether what was built has weights to be trained: a loss holds settings, and a library's metric counts."""
    known = semantics.module(step.name)
    return "." not in step.name or (known is not None and not known.loss)


def _is_certain(place: object) -> bool:
    if isinstance(place, SameAs):
        return place.symbol.anchor is Anchor.MODULE
    return isinstance(place, Known) and not place.on_cpu


def _built_here(event: DeviceMismatch, mine: MismatchOperand) -> Step | None:
    """The construction in this very definition, or by its caller for this call, with no move since."""
    provenance = provenance_of(mine.value)
    step = provenance.step if provenance is not None else None
    if mine.role != MODULE_CALL or step is None or step.kind is not StepKind.MADE:
        return None
    if step.scope not in (event.scope, event.caller):
        return None
    on_cpu = device_of(mine.value) == Known("cpu")
    return step if on_cpu and event.scope.setting is not Setting.MODULE_LEVEL else None


def _repair(event: DeviceMismatch, mine: MismatchOperand, theirs: MismatchOperand, step: Step) -> Repair:
    if event.scope.setting is Setting.FORWARD:
        return Repair(
            Applicability.SUGGESTION, "build it once in `__init__`, so that it moves and learns with the module"
        )
    target = device_expression_of(theirs)
    if not target:
        return Repair(Applicability.SUGGESTION, f"move it to the device of {describe_operand(theirs)}")
    message = f"move it there: `{quoted(step.node, 'it').strip('`')}.to({target})`"
    return Repair(Applicability.SUGGESTION, message, suffixed(step.node, f".to({target})"))
