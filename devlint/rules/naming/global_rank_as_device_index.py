"""The rank among the processes of all machines is used as the index of an accelerator.

## What it does

Finds `torch.distributed.get_rank()`, `int(os.environ["RANK"])`, `accelerator.process_index`, `hvd.rank()` and their kin
where PyTorch takes the index of a device: `torch.cuda.set_device(rank)`, `device=dist.get_rank()`, `f"cuda:{rank}"`,
`torch.device("cuda", rank)`, `.to(rank)`, `.cuda(rank)`, `device_ids=[rank]`.

## Why is this bad

Ranks go on counting from one machine to the next, indices of accelerators begin anew on each. The first process of a
second machine with eight of them has rank 8 there, and "CUDA error: invalid device ordinal" is what it gets.

## Example

```python
import torch
import torch.distributed as dist


def counted(value: float) -> torch.Tensor:
    return torch.tensor(value, device=dist.get_rank())
```

## Use instead

```python
import torch
import torch.distributed as dist


def counted(value: float) -> torch.Tensor:
    return torch.tensor(value, device=dist.get_rank() % torch.cuda.device_count())
```

Launchers say the index themselves: `int(os.environ["LOCAL_RANK"])`, `accelerator.local_process_index`,
`hvd.local_rank()`.

## When it is right

- The rank is taken modulo the number of accelerators, or less the first rank of the machine.
- `LOCAL_RANK`, and a rank within a group: `dist.get_rank(group)`.
- An argument, also of a function that `torch.multiprocessing.spawn` starts: where it comes from is not known here.
- The first process alone comes there, `if dist.get_rank() == 0:`: on its machine there is a first accelerator.
- A condition speaks of machines or of local ranks, or the function counts the accelerators: low.
- The file starts its processes itself, on this machine, or meets them at `localhost`, or another file of the package
  calls `torch.multiprocessing.spawn`: low. So do tests, benchmarks and notebooks.

## Fix safety

`rank % torch.cuda.device_count()` is unsafe: where a launcher shows each process one accelerator, or puts the ranks of
a machine in another order, the index is a matter of the launcher.

## How a run confirms it

Run on `cuda:1` with `cuda:0` current, the line names a device that is not there. That takes a process of a rank that
high, so a run that passes refutes nothing.

## Known problems

A program that is only ever run on one machine is right with its global rank. Where nothing says so, it is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from devlint.drafts.changes import Suffix
from devlint.drafts.draft import Draft, DraftStep, Premise, Repair
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Constant
from devlint.placement.domain.events import Sink
from devlint.placement.syntax.nodes import dotted
from devlint.rules.rule import Rule
from devlint.rules.waking import always, any_of
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.drafts.changes import Change
    from devlint.placement.domain.events import Called, RankAsIndex, Stored
    from devlint.placement.domain.scope import Scope

_ABOUT_MACHINES = re.compile(r"node|local|single|device_count", re.IGNORECASE)
"""Words of conditions that say how many machines there are, or whether a launcher gives the local rank."""

_IS_FIRST = re.compile(r"rank(?:\(\))? == 0$", re.IGNORECASE)
"""A condition for the process of rank 0."""

_STARTS_PROCESSES = re.compile(r"multiprocessing\.(?:spawn\.)?(?:spawn|start_processes)$|\.Process$")
"""Of a module or of a context."""

_HERE = ("localhost", "127.0.0.1", "file://")

MOST_STEPS = 3
"""Further places that are shown."""


class GlobalRankAsDeviceIndex(Rule):
    code = "DEV313"
    name = "global-rank-as-device-index"
    severity = Severity.WARNING
    wakes_at = any_of(rank_as_index=always)

    def __init__(self) -> None:
        self._uses: dict[tuple[Scope, int], list[RankAsIndex]] = {}
        """By definition, and the reading of the rank: one mistake, however often the index is used."""
        self._counting: set[Scope] = set()
        """Definitions that count the accelerators: they may compare their number with that of the processes."""
        self._on_one_machine = False
        self._says_torch = False
        """The name `torch` is known to be bound."""

    def called(self, event: Called) -> Iterable[Draft]:
        self._says_torch = self._says_torch or (dotted(event.call.node.func) or "").startswith("torch.")
        if event.name.endswith(".device_count"):
            self._counting.add(event.scope)
        if _STARTS_PROCESSES.search(event.name):
            self._on_one_machine = True
        elif event.name.startswith("torch.distributed."):
            self._on_one_machine |= any(_is_here(argument.value) for argument in event.call.arguments)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        """`os.environ["MASTER_ADDR"] = "localhost"`."""
        self._on_one_machine |= event.attribute == "MASTER_ADDR" and _is_here(event.value)
        return ()

    def rank_as_index(self, event: RankAsIndex) -> Iterable[Draft]:
        if any(decided.holds and _IS_FIRST.search(decided.guard.text) for decided in event.arms):
            return ()
        self._uses.setdefault((event.scope, id(event.rank.node)), []).append(event)
        return ()

    def finish(self) -> Iterable[Draft]:
        for (scope, _), (first, *others) in self._uses.items():
            yield Draft(
                node=first.node,
                scope=scope,
                message=f"`{first.rank.name}` counts the processes of all machines; as the index of an accelerator it "
                "is too high on every machine but the first",
                confidence=self._confidence(first),
                trace=(
                    DraftStep(first.rank.node, first.rank.scope, "the rank is read here"),
                    *(DraftStep(one.node, scope, "it is an index here as well") for one in others[:MOST_STEPS]),
                ),
                repair=self._repair((first, *others)),
                premise=Premise.SEVERAL_MACHINES,
            )

    def _confidence(self, event: RankAsIndex) -> Confidence:
        conditions = any(_ABOUT_MACHINES.search(decided.guard.text) for decided in event.arms)
        if self._on_one_machine or conditions or event.scope in self._counting:
            return Confidence.LOW
        return Confidence.MEDIUM if event.scope.role in (Role.LIBRARY, Role.SCRIPT) else Confidence.LOW

    def _repair(self, uses: Sequence[RankAsIndex]) -> Repair:
        edits = tuple(_edits(uses)) if self._says_torch else ()
        message = "take the index on this machine: the rank `% torch.cuda.device_count()`"
        if len(edits) == len(uses):
            return Repair(Applicability.UNSAFE, message, edits)
        return Repair(Applicability.SUGGESTION, f"{message}, or `LOCAL_RANK` of the launcher")


def _is_here(value: object) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, str) and any(w in value.value for w in _HERE)


def _edits(uses: Iterable[RankAsIndex]) -> Iterator[Change]:
    """Behind each index that is written as a number; inside of a string or a list no edit is made."""
    import libcst as cst

    for use in uses:
        node = use.node
        if use.in_text or use.sink == Sink.DEVICE_IDS:
            continue
        if isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
            yield Suffix(node, " % torch.cuda.device_count()")
