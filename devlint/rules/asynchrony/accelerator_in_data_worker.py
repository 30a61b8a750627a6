"""Data loading code uses the accelerator, which worker processes cannot share.

## What it does

Finds moves to an accelerator and tensors made there in what a DataLoader runs in its workers: `__getitem__` of a
Dataset, `__iter__` of an IterableDataset, collate functions, `worker_init_fn`, and the methods and functions of the
same file that these call. The confidence is medium where the device is an accelerator for certain or the file gives its
loaders workers, low where the device is the caller's choice or no loader of the file has workers.

## Why is this bad

A DataLoader with `num_workers > 0` forks. A forked process cannot use CUDA once its parent has:
"Cannot re-initialize CUDA in forked subprocess". Where it spawns instead, each worker opens a context of its own, which
takes hundreds of megabytes on the accelerator, and every batch goes back to the parent through shared device memory.

## Example

```python
import torch
from torch.utils.data import Dataset


class Images(Dataset):
    def __init__(self, images: list[torch.Tensor]) -> None:
        self.images = images

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.images[index].cuda()
```

## Use instead

```python
import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, images: list[torch.Tensor]) -> None:
        self.images = images

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.images[index]


def batches(images: Images, device: torch.device):
    for batch in DataLoader(images, batch_size=8, num_workers=2, pin_memory=True):
        yield batch.to(device, non_blocking=True)
```

## When it is right

- The loaders have no workers: `num_workers=0` is stated.
- A move to the CPU.
- `__getitem__` returns nothing: a loader cannot collate that, so the program calls it by itself.
- `__getitem__` of an IterableDataset: a loader iterates it, so the program indexes it by itself.
- Tensors that a Dataset put on the accelerator in its constructor are only picked.
- The package starts its processes anew, `set_start_method("spawn")`: low.

## Fix safety

No fix: the move belongs into the loop over the loader.

## How a run confirms it

In a worker process the accelerator is used, or refuses to be: with `num_workers=2` the loader raises on the first
batch. A run whose loaders have no workers tells nothing.

## Known problems

Loaders that other files make are not seen, nor is what they set.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Premise
from devlint.drafts.wording import device_of, quoted
from devlint.finding import Confidence, Severity
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.domain.abstract_values import Constant, DeviceName, Function, Self
from devlint.placement.domain.lattice import Anchor, Device, Known, SameAs, describe, is_accelerator
from devlint.rules.rule import Rule
from devlint.rules.waking import always, any_of
from devlint.semantics import process_setting
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, Called, Created, Event, Moved
    from devlint.placement.domain.scope import Scope

_LOADER = ("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")


class AcceleratorInDataWorker(Rule):
    code = "DEV604"
    name = "accelerator-in-data-worker"
    severity = Severity.WARNING
    wakes_at = any_of(moved=always, created=lambda event: event.named is not None)

    def __init__(self) -> None:
        self._entered: dict[str, str] = {}
        """Definitions that workers run, and what each is."""
        self._uses: list[tuple[Event, Device]] = []
        self._calls: dict[str, set[str]] = {}
        """By definition: the definitions of the file that it calls."""
        self._workers: list[int | None] = []
        """``num_workers`` of the file's loaders; None where it is not a literal. The default is 0."""
        self._stated_zero = False

    @staticmethod
    def wakes_at_call(name: str) -> bool:
        return process_setting(name) is not None

    def begun(self, event: Begun) -> Iterable[Draft]:
        what = _run_by_workers(event)
        if what:
            self._entered.setdefault(event.scope.qualname, what)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        named = event.named
        chosen = named is None or isinstance(named.value, (DeviceName, Constant)) or _is_expression(event.target)
        if event.moves and chosen:
            self._use(event, event.target)
        return ()

    def created(self, event: Created) -> Iterable[Draft]:
        device = device_of(event.value)
        if event.named is not None and device is not None and isinstance(event.named.value, (DeviceName, Constant)):
            self._use(event, device)
        return ()

    def _use(self, event: Event, device: Device) -> None:
        if is_accelerator(device) or _is_passed_in(device):
            self._uses.append((event, device))

    def called(self, event: Called) -> Iterable[Draft]:
        if event.name in _LOADER:
            self._note_loader(event)
        setting = process_setting(event.name)
        named = event.call.argument(setting[1], 0) if setting is not None else None
        if named is not None and setting is not None and "current" in setting[0]:
            self._uses.append((event, Known("cuda")))
        callee = event.name.lstrip(".")
        if event.name.startswith(".") and isinstance(event.receiver, Self):
            callee = f"{event.scope.class_name}.{callee}"
        self._calls.setdefault(event.scope.qualname, set()).add(callee)
        return ()

    def _note_loader(self, event: Called) -> None:
        workers = event.call.keyword("num_workers")
        if workers is None:
            self._workers += [] if event.call.unpacks else [0]
        else:
            count = workers.value.value if isinstance(workers.value, Constant) else None
            self._workers.append(count if isinstance(count, int) else None)
            self._stated_zero = self._stated_zero or count == 0
        for keyword, what in (("collate_fn", "a collate function"), ("worker_init_fn", "a worker's start")):
            given = event.call.keyword(keyword)
            if given is not None and isinstance(given.value, Function):
                self._entered.setdefault(given.value.info.qualname, what)

    def finish(self) -> Iterable[Draft]:
        if self._stated_zero and not self._has_workers:
            return
        reached = self._reached()
        for event, device in self._uses:
            root = reached.get(event.scope.qualname)
            if root is not None:
                yield self._draft(event, device, self._entered[root])

    @property
    def _has_workers(self) -> bool:
        """Some loader of the file has workers, or as many as somebody says."""
        return any(count is None or count > 0 for count in self._workers)

    def _reached(self) -> dict[str, str]:
        """Definitions that run in workers, and the one that a worker enters them by."""
        reached = {root: root for root in self._entered}
        waiting = list(reached)
        while waiting:
            caller = waiting.pop()
            for callee in self._calls.get(caller, ()):
                if callee not in reached:
                    reached[callee] = reached[caller]
                    waiting.append(callee)
        return reached

    def _draft(self, event: Event, device: Device, what: str) -> Draft:
        return Draft(
            node=event.node,
            scope=event.scope,
            message=f"{quoted(event.node, 'this')} uses an accelerator in {what}, which a DataLoader with workers "
            "runs in forked processes; CUDA cannot be used there",
            confidence=self._confidence(event.scope, device),
            trace=(DraftStep(event.node, event.scope, "used here", describe(device)),),
            premise=Premise.FORKS,
        )

    def _confidence(self, scope: Scope, device: Device) -> Confidence:
        if scope.role is Role.TEST or (self._workers and not self._has_workers):
            return Confidence.LOW
        if is_accelerator(device):
            return Confidence.HIGH if self._has_workers else Confidence.MEDIUM
        # The caller's device may well be the CPU where workers load.
        return Confidence.MEDIUM if self._has_workers else Confidence.LOW


def _run_by_workers(event: Begun) -> str:
    """What a definition is to a worker; empty for one that runs in the main process."""
    owner, name = event.owner, event.scope.qualname.rsplit(".", 1)[-1]
    if name == "__getitem__" and not _gives_something(event.node):
        return ""
    if owner is None:
        if name in ("worker_init_fn", "seed_worker"):
            return "a worker's start"
        return "a collate function" if "collate" in name else ""
    if any(base.endswith("IterableDataset") for each in owner.order for base in _named_bases(each.bases)):
        # A loader iterates it, and never indexes it (fixture `iterated`).
        return "`__iter__` of an IterableDataset" if name == "__iter__" else ""
    if owner.kind is ClassKind.HOST and name in ("__getitem__", "__getitems__"):
        return f"`{name}` of a Dataset"
    if name == "__call__" and "collat" in owner.name.lower():
        return "a collate function"
    return ""


def _gives_something(definition: cst.CSTNode) -> bool:
    """Whether it returns an item: no loader collates None, so that what gives nothing is called by hand."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    if not isinstance(definition, cst.FunctionDef):
        return True
    parts = descend(definition.body, into_definitions=False)
    return any(
        (isinstance(part, cst.Return) and part.value is not None) or isinstance(part, cst.Yield | cst.Raise)
        for part in parts
    )


def _named_bases(bases: Iterable[object]) -> list[str]:
    return [base if isinstance(base, str) else getattr(base, "name", "") for base in bases]


def _is_passed_in(device: Device) -> bool:
    """A device that is passed in, or configured, as such; not that of another tensor of the sample."""
    if not isinstance(device, SameAs):
        return False
    owner, _, attribute = device.symbol.name.rpartition(".")
    return attribute.endswith("device") and owner in ("", "self", "args", "cfg", "config", "opt")


def _is_expression(device: Device) -> bool:
    """`self.device`: a device whose value is not followed."""
    return isinstance(device, SameAs) and device.symbol.anchor is Anchor.EXPRESSION
