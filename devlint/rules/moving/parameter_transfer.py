"""A parameter is moved after it was made, so what the module keeps is no parameter any more.

## What it does

Finds `self.w = nn.Parameter(t).cuda()` and `nn.Parameter(t).to(device)` stored on `self`.

## Why is this bad

A transfer returns a plain tensor that remembers the parameter in its graph. The module registers parameters only, so
on an accelerator `self.w` is missing from `parameters()` and `state_dict()`: no optimizer ever trains it, no `.to(...)`
moves it, no checkpoint holds it. Nothing raises. On the CPU the same line returns the parameter itself and all is
well, so no CPU test sees it.

## Example

```python
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, width: int, device: torch.device) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width)).to(device)

    def forward(self, x):
        return x * self.gain
```

## Use instead

```python
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, width: int, device: torch.device) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width, device=device))

    def forward(self, x):
        return x * self.gain
```

## When it is right

- The moved parameter is only returned, compared or used once: nobody expects it to be registered.
- It is wrapped again: `nn.Parameter(nn.Parameter(t).to(device))`.
- Only the dtype changes.
- It is a copy of a parameter that is registered elsewhere: `self.cache = model.weight.to(device)`.
- It is made with `requires_grad=False` in a class that is no Module: nothing would have registered it.

## Fix safety

Unsafe: the module gets a parameter that it did not have on an accelerator: its `state_dict` and its optimizer change.

## How a run confirms it

On an accelerator the attribute is missing from `named_parameters()`.

## Known problems

Lists and dicts of such tensors are reported by the rules about unregistered state only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.changes import DropCall, Suffix
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step, provenance_of, trace_of
from devlint.drafts.wording import (
    code_of,
    describe_operand,
    describe_placement,
    device_of,
    failing_code,
    operand_and_placement,
    quoted,
)
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import DeviceName, Kind, Module, Self, Tensor, Value
from devlint.placement.domain.lattice import Known
from devlint.placement.domain.provenance import Step, StepKind
from devlint.rules.rule import Rule
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.placement.domain.events import Begun, DeviceMismatch, Stored
    from devlint.placement.domain.scope import Scope


class ParameterTransfer(Rule):
    code = "DEV202"
    name = "parameter-transfer"
    severity = Severity.ERROR
    error_when_confirmed = True
    claims_before = ("DEV502",)  # unregistered-module

    def __init__(self) -> None:
        self._device_parameters: dict[Scope, str] = {}
        """By definition: the name of its first device parameter."""

    def begun(self, event: Begun) -> Iterable[Draft]:
        devices = [name for name, value in event.arguments if isinstance(value, DeviceName)]
        if devices:
            self._device_parameters[event.scope] = devices[0]
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        value = event.value
        if event.attribute is None or not isinstance(value, Tensor) or value.kind is not Kind.UNWRAPPED:
            return
        if not isinstance(event.owner, (Self, Module)):
            return
        step = _unwrapping(value)
        if step is None or (not _in_module(event) and _is_constant(value)):
            # A class that is no Module registers nothing, and what nobody trains loses nothing (fixture `constants`).
            return
        moved = quoted(step.node, "the moved parameter")
        yield Draft(
            node=step.node,
            scope=step.scope,
            message=f"{moved} is a plain tensor on an accelerator, so `{event.target}` is never registered: "
            "no optimizer trains it and no checkpoint holds it",
            confidence=_confidence(event),
            severity=Severity.WARNING if event.scope.role is Role.TEST else None,
            trace=(*_steps(value), DraftStep(event.node, event.scope, "kept here, outside `parameters()`")),
            repair=_repair(step.node, self._device_parameters.get(step.scope)),
        )

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        """The module moves and leaves this tensor behind. Two named devices are apart by their own fault."""
        for mine, theirs in ((event.offending, event.other), (event.other, event.offending)):
            step = _unwrapping(mine.value)
            if step is None or not _is_kept(mine.value) or isinstance(device_of(theirs.value), Known):
                continue
            yield Draft(
                node=step.node,
                scope=step.scope,
                message=f"{describe_operand(mine)} is a parameter that was moved after it was made, so it is not "
                f"registered and {describe_placement(mine)}; {operand_and_placement(theirs)} "
                f"and {failing_code(event)} fails",
                trace=trace_of(event),
                repair=_repair(step.node, self._device_parameters.get(step.scope)),
            )
            return


def _repair(transfer: cst.CSTNode, device: str | None) -> Repair:
    """`nn.Parameter(t).to(device)` becomes `nn.Parameter(t.to(device))`; `.cuda()` is replaced by a device in scope."""
    import libcst as cst

    message = "move the tensor before it is wrapped: `nn.Parameter(t.to(device))`"
    changes: tuple[Change, ...] = ()
    match transfer:
        case cst.Call(
            func=cst.Attribute(value=cst.Call(args=[cst.Arg(value=data, star=""), *_]), attr=method), args=args
        ):
            written = ", ".join(map(_written, args))
            move = f".to({device})" if device and method.value == "cuda" and not args else f".{method.value}({written})"
            if "#" not in move:
                changes = (DropCall(transfer), Suffix(data, move))
        case _:
            pass
    return Repair(Applicability.UNSAFE, message, changes)


def _written(argument: cst.Arg) -> str:
    keyword = f"{argument.keyword.value}=" if argument.keyword is not None else ""
    return f"{argument.star}{keyword}{code_of(argument.value)}"


def _confidence(event: Stored) -> Confidence:
    """A class that is no Module registers nothing: there only the training is lost."""
    in_tests = event.scope.role is Role.TEST  # it runs what it builds itself, on the CPU as a rule
    return Confidence.HIGH if _in_module(event) and not in_tests else Confidence.MEDIUM


def _in_module(event: Stored) -> bool:
    return isinstance(event.owner, Self) and event.owner.info.is_module


def _is_constant(value: Value) -> bool:
    """Whether the parameter was made with `requires_grad=False`."""
    import libcst as cst

    provenance = provenance_of(value)
    wrapped = provenance.find(StepKind.WRAPPED) if provenance is not None else None
    given = wrapped.node.args if wrapped is not None and isinstance(wrapped.node, cst.Call) else ()
    named = [argument.value for argument in given if argument.keyword and argument.keyword.value == "requires_grad"]
    flag = named[0] if named else given[1].value if len(given) > 1 else None
    return isinstance(flag, cst.Name) and flag.value == "False"


def _unwrapping(value: Value) -> Step | None:
    """The transfer of a parameter that was made for this place.

    A copy of a parameter that something else registered is only a copy (fixture `copies`).
    """
    found = None
    for step in provenance_of(value) or ():
        if step.kind is StepKind.UNWRAPPED and found is None:
            found = step
        elif step.kind is StepKind.WRAPPED:
            return found if found is not None and found.scope == step.scope else None
        elif found is not None and step.kind in (StepKind.STORED, StepKind.GIVEN):
            return None
    return None


def _is_kept(value: Value) -> bool:
    """Only what was stored on an object can be expected among its parameters."""
    provenance = provenance_of(value)
    return provenance is not None and provenance.find(StepKind.STORED) is not None


def _steps(value: Value) -> tuple[DraftStep, ...]:
    provenance = provenance_of(value)
    return tuple(draft_step(step) for step in reversed(tuple(provenance))) if provenance is not None else ()
