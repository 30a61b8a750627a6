"""An argument that PyTorch reads on the CPU is given an accelerator tensor.

## What it does

Finds accelerator tensors given to the arguments that must be on the CPU: the lengths of `pack_padded_sequence`, the
tensor of positions of `tensor_split`, the tensors of functions without a CUDA kernel such as `torch.histogram`, and the
others that the tables list. So is an argument as it came, which the same function brings to the CPU for another use. A
call is told of that hands what it brought to a device, or what its module computed, to a function or a module's
`forward` which gives it to such an argument as it came.

## Why is this bad

These arguments steer the host, so the call insists on a CPU tensor and raises, for instance
"'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor".

## Example

```python
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Encoder(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.rnn = nn.GRU(width, width, batch_first=True)

    def forward(self, words):
        lengths = (words.abs().sum(dim=2) != 0).sum(dim=1)
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        return self.rnn(packed)
```

## Use instead

```python
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Encoder(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.rnn = nn.GRU(width, width, batch_first=True)

    def forward(self, words):
        lengths = (words.abs().sum(dim=2) != 0).sum(dim=1)
        packed = pack_padded_sequence(words, lengths.cpu(), batch_first=True, enforce_sorted=False)
        return self.rnn(packed)
```

## When it is right

- The lengths are a list, or went through `.cpu()` or `.tolist()`.
- The lengths are an argument of the function: whoever calls it may well keep them on the CPU, as the documentation
  asks. Then the confidence is low.

## Fix safety

`.cpu()` on the argument is safe where that is certainly a tensor: it returns the tensor itself where it is on the CPU
already. It is unsafe where the argument may be a list of numbers, which is as welcome and has no `.cpu()`.

## How a run confirms it

The call raises.

## Known problems

Lengths that a helper outside the file computes are not followed. Nor are those that a callee hands on in some of its
calls only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import suffixed
from devlint.drafts.draft import Draft, Repair
from devlint.drafts.trace import provenance_of, trace_of
from devlint.drafts.wording import (
    code_of,
    code_with,
    describe_operand,
    describe_placement,
    device_of,
    failing_code,
    failure_condition,
    is_certain,
)
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Opaque, Tensor
from devlint.placement.domain.events import MismatchOperand
from devlint.placement.domain.lattice import CPU, Anchor, Known, SameAs, describe, leaves
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.rules.meeting.brought_beside import BroughtBeside
from devlint.rules.meeting.reads_in_callees import draft_at_call, draft_of
from devlint.rules.rule import Rule
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import DeviceMismatch, Moved, ReadInCallee
    from devlint.placement.domain.provenance import Provenance


class CpuOnlyArgument(Rule):
    code = "DEV404"
    name = "cpu-only-argument"
    severity = Severity.ERROR
    error_when_confirmed = True
    of_callers_tensors = True
    claims_before = ("DEV402",)  # accelerator-index-into-cpu

    def __init__(self) -> None:
        self._told: set[cst.CSTNode] = set()
        """The calls inside of callees that were told of."""
        self._beside = BroughtBeside()
        self._as_given: list[tuple[DeviceMismatch, Draft]] = []
        """What is handed in as it is, which the documentation asks callers to keep on the CPU."""

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._beside.moved(event)
        return ()

    def finish(self) -> Iterable[Draft]:
        """Who brings it to the CPU for another use does not have it from there."""
        for event, draft in self._as_given:
            value = event.offending.value
            brought = self._beside.at(event.scope, event.arms, provenance_of(value), event.offending.node)
            if brought is not None:
                yield replace(draft, confidence=Confidence.MEDIUM, trace=(*draft.trace, brought))

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        offending = event.offending
        if event.clash.other is not None or offending.role not in event.operation.cpu_arguments:
            return
        draft = Draft(
            node=offending.node,
            scope=event.scope,
            message=f"{describe_operand(offending)} {_source_or_placement(offending)} but {_reason(event, offending)}; "
            f"it raises{failure_condition(device_of(offending.value))}",
            confidence=_confidence(event, offending),
            trace=trace_of(event),
            repair=Repair(
                # What is not known to be a tensor may be a list, which has no `.cpu()`.
                Applicability.SAFE if is_certain(offending.value) else Applicability.UNSAFE,
                f"hand it over on the CPU: `{code_with(offending.node, '.cpu()')}`",
                suffixed(offending.node, ".cpu()"),
            ),
        )
        if draft.confidence is Confidence.LOW:
            self._as_given.append((event, draft))
        yield draft

    def read_in_callee(self, event: ReadInCallee) -> Iterable[Draft]:
        """A call that hands over what is not on the CPU, which its callee asks of its callers."""
        if not event.read.argument or event.callers_on_cpu:
            return
        draft = draft_of(event) or _draft_of_brought(event) or _draft_of_computed(event)
        if draft is not None and event.read.node not in self._told:
            self._told.add(event.read.node)
            yield draft


def _draft_of_brought(event: ReadInCallee) -> Draft | None:
    """What the code at hand brings somewhere, wherever that is: nobody brings a tensor to the CPU by `t.to(d.device)`.

    Lengths that came with a batch which was moved as a whole are where their callers say.
    """
    moved = event.value.provenance.find(StepKind.MOVED) if event.value.provenance is not None else None
    if event.scope.role is Role.TEST or event.scope.setting is Setting.HOST or moved is None:
        return None
    if moved.scope != event.scope or moved.device != event.device or not isinstance(event.device, SameAs):
        return None
    return draft_at_call(event, f"is on {describe(event.device)}", Severity.WARNING, Confidence.MEDIUM)


def _draft_of_computed(event: ReadInCallee) -> Draft | None:
    """What a ``forward`` computes of its inputs, ``mask.sum(1)``, is where they are."""
    if (
        event.scope.role is Role.TEST
        or event.scope.setting is not Setting.FORWARD
        or not isinstance(event.value, Tensor)
    ):
        return None
    of_module = isinstance(event.device, SameAs) and event.device.symbol.anchor is Anchor.MODULE
    given = event.value.provenance.first if event.value.provenance is not None else None
    if (
        given is None
        or not of_module
        or not _derived(MismatchOperand(event.read.argument, event.value, event.expression))
    ):
        return None
    return draft_at_call(event, f"is computed where `{given.name}` is", Severity.WARNING, Confidence.MEDIUM)


def _reason(event: DeviceMismatch, offending: MismatchOperand) -> str:
    if event.clash.kind == "no_cuda_kernel":
        return f"{failing_code(event)} has no CUDA kernel"
    return f"{failing_code(event)} reads its `{offending.role}` on the CPU"


def _source_or_placement(offending: MismatchOperand) -> str:
    """Where the operand is; where it was computed from an argument, from which one."""
    provenance = provenance_of(offending.value)
    given = provenance.first if provenance is not None else None
    if given is None or given.kind is not StepKind.GIVEN or not _derived(offending):
        return describe_placement(offending)
    return f"is computed where `{given.name}` is"


def _confidence(event: DeviceMismatch, offending: MismatchOperand) -> Confidence:
    device = device_of(offending.value)
    if device is None or event.scope.setting is Setting.HOST:
        return Confidence.LOW
    found = leaves(device)
    if any(isinstance(leaf, Known) and not leaf.on_cpu for leaf in found):
        return Confidence.HIGH
    if not any(isinstance(leaf, SameAs) for leaf in found):
        return Confidence.LOW
    if not _is_item_by_name(offending) and (_derived(offending) or _shares_source(event, offending)):
        return Confidence.MEDIUM
    # Handed in as it is: the documentation asks callers to keep it on the CPU.
    return Confidence.LOW


def _derived(offending: MismatchOperand) -> bool:
    """Whether it was computed from data (`mask.sum(1)`), which is on the accelerator, and not from given lengths."""
    provenance = provenance_of(offending.value)
    if provenance is None or _ends_on_the_host(provenance):
        return False
    given = provenance.first
    if given.device == CPU:
        # How the other arm came to be elsewhere is not kept: what is handed in as it is may be the caller's lengths.
        return code_of(offending.node).endswith(")")
    as_it_is = given.name == code_of(offending.node) or _is_item(offending)
    return not (given.kind is StepKind.GIVEN and (as_it_is or "len" in given.name.lower()))


def _is_item_by_name(offending: MismatchOperand) -> bool:
    """``lengths = batch[1]``: an item as it came, and nothing shows that it is a tensor (fixture `lengths_by_name`)."""
    provenance = provenance_of(offending.value)
    as_it_came = provenance is not None and provenance.step.kind is StepKind.GIVEN
    return as_it_came and isinstance(offending.value, Opaque) and code_of(offending.node).isidentifier()


def _ends_on_the_host(provenance: Provenance) -> bool:
    """It tells of another arm: `lengths = mask.sum(1).cpu()` where none are given (fixture `computed_else_given`)."""
    moved = provenance.find(StepKind.MOVED)
    return moved is not None and moved.device == CPU


def _is_item(offending: MismatchOperand) -> bool:
    """An item of an argument, handed in like the argument itself and placed apart from others: `batch["lengths"]`."""
    provenance, code = provenance_of(offending.value), code_of(offending.node)
    return provenance is not None and code.startswith(f"{provenance.first.name}[") and "(" not in code


def _shares_source(event: DeviceMismatch, offending: MismatchOperand) -> bool:
    """Whether another operand of the call comes from the very same argument."""
    first = None if _is_item(offending) else _first(offending)
    return first is not None and any(
        _first(operand) is first for operand in event.operands if operand.role != offending.role
    )


def _first(operand: MismatchOperand) -> object | None:
    provenance = provenance_of(operand.value)
    return provenance.first.node if provenance is not None else None
