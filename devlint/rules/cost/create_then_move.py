"""A tensor is created on the CPU only to be moved at once.

## What it does

Finds factory calls without a device whose result goes straight into a transfer: `torch.zeros(n).to(x.device)`,
`torch.arange(n).cuda()`, and the same through a name.

## Why is this bad

The tensor is allocated and filled on the host and then copied, where `device=` makes it on the accelerator in one
step. The copy waits for the device. In most programs that costs little: this is a note, off by default.

## Example

```python
import torch


def positions(x: torch.Tensor) -> torch.Tensor:
    return torch.arange(x.shape[1]).to(x.device)
```

## Use instead

```python
import torch


def positions(x: torch.Tensor) -> torch.Tensor:
    return torch.arange(x.shape[1], device=x.device)
```

## When it is right

- The factory takes no device: `torch.from_numpy(...)`, `torch.Tensor(...)`.
- The tensor is filled on the host before it moves, or pinned.
- The move goes to the CPU, or changes the dtype only.

## Fix safety

Safe in one expression, for factories that always make the same tensor. Unsafe for random ones: on another device the
stream of random numbers is another one, and a seed no longer gives the same values. A suggestion where a generator is
passed, where the move changes the dtype too, and where it stands on another line.

## How a run confirms it

The birth and the move of one tensor are seen on two devices, with no reader in between.

## Known problems

A tensor that a function fills in place between the two lines is reported as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.changes import DropCall, keywords_of, with_argument
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.evidence_conventions import CONVENTIONS, MAKES_BY_DEFAULT
from devlint.placement.domain.abstract_values import Argument, Opaque, Tensor
from devlint.placement.domain.events import Fate
from devlint.placement.domain.lattice import CPU, Known, SameAs, describe, leaves
from devlint.placement.domain.provenance import Step, StepKind
from devlint.rules.rule import Rule
from devlint.rules.waking import always, any_of

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Called, Moved, Stored


class CreateThenMove(Rule):
    code = "DEV701"
    name = "create-then-move"
    severity = Severity.NOTE
    wakes_at = any_of(moved=always)

    def __init__(self) -> None:
        self._bound: dict[tuple[str, str], cst.CSTNode | None] = {}
        """By definition and name: the expression the name was bound to last."""

    def stored(self, event: Stored) -> Iterable[Draft]:
        name, item, _ = event.target.partition("[")
        # Writing items fills it on the host: then it has a reason to be there (fixture `made_in_place`).
        self._bound[event.scope.qualname, name] = None if item else event.value_node
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        if event.name.startswith(".") and event.name.endswith("_"):
            filled = getattr(getattr(event.call.node.func, "value", None), "value", None)
            if isinstance(filled, str):
                self._bound.pop((event.scope.qualname, filled), None)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        step = self._just_created(event)
        if step is None or event.fate != Fate.USED or not event.moves or not _leaves_the_cpu(event):
            return
        direct = step.node is event.receiver_node
        made = quoted(step.node, f"`{step.name}`")
        yield Draft(
            node=event.node,
            scope=event.scope,
            message=f"{made} is created on the CPU and copied to {describe(event.target)}; it can be created there",
            confidence=Confidence.HIGH if direct else Confidence.MEDIUM,
            trace=(DraftStep(step.node, step.scope, "made here", "cpu"),
                   DraftStep(event.node, event.scope, "copied here", describe(event.target))),
            repair=_repair(event, step, direct),
        )  # fmt: skip

    def _just_created(self, event: Moved) -> Step | None:
        """The bare creation the transferred tensor comes from, with nothing in between."""
        receiver = event.receiver
        if not isinstance(receiver, Tensor) or receiver.provenance is None or receiver.pinned:
            return None
        step, factory = receiver.provenance.step, receiver.provenance.step.factory
        written = event.receiver_node, self._bound.get((event.scope.qualname, event.receiver_text))
        if step.kind is not StepKind.MADE or not step.bare or not any(node is step.node for node in written):
            return None
        # Without a `device=` to give, or with one it would refuse, there is nothing else to write.
        if step.note == CONVENTIONS[MAKES_BY_DEFAULT]:
            return None  # what is handed over in the place of a default need not take a device
        return step if factory is not None and factory.takes_device and not factory.legacy else None


def _leaves_the_cpu(event: Moved) -> bool:
    ends = leaves(event.target)
    return CPU not in ends and all(isinstance(leaf, (Known, SameAs)) for leaf in ends)


def _repair(event: Moved, step: Step, direct: bool) -> Repair:
    device = _spelled(event)
    random = step.factory is not None and step.factory.random
    message = f"pass `device={device}` to `{step.name}`"
    if random:
        message += " (the stream of random numbers changes with the device)"
    safe = not random and event.method in ("to", "cuda")
    # A tensor as the target brings its dtype too, and what was made on an earlier line stands where the device may not.
    written = direct and all(a is event.named or a.keyword in ("non_blocking", "copy") for a in event.call.arguments)
    # A generator of the CPU draws there and nowhere else.
    written = written and not (random and "generator" in keywords_of(step.node))
    if not written or (event.named is not None and _may_be_a_tensor(event.named)):
        return Repair(Applicability.SUGGESTION, message)
    changes = (*with_argument(step.node, "device", device), DropCall(event.call.node))
    return Repair(Applicability.SAFE if safe else Applicability.UNSAFE, message, changes)


def _may_be_a_tensor(target: Argument) -> bool:
    """Whether the target may be a tensor, ``.to(scores)``, which is no ``device=``: so may what a callable computed."""
    provenance = target.value.provenance if isinstance(target.value, Opaque) else None
    computed = provenance is not None and provenance.step.kind is StepKind.COMPUTED
    return isinstance(target.value, Tensor) or (computed and "device" not in code_of(target.node))


def _spelled(event: Moved) -> str:
    if event.named is None:
        # `.cuda()` names the type alone; which device is current is not reported here.
        return f'"{event.target.type}"' if isinstance(event.target, Known) else f'"{describe(event.target)}"'
    code = code_of(event.named.node)
    if isinstance(event.named.value, Tensor):
        return f"{code}.device"
    return f'"cuda:{code}"' if code.isdecimal() else code
