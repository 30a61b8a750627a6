"""A stream is made on the current device, whatever device the tensors on it are on.

## What it does

Finds `torch.cuda.Stream()`, `current_stream()`, `default_stream()` and `synchronize()` without a device in functions
that have a device at hand. The confidence is medium where a new stream serves asynchronous copies to a device that the
caller chose, or where the current device is known to be another one; otherwise it is low.

## Why is this bad

Without an argument these calls mean the current device, which is `cuda:0` unless somebody changed it. Work for tensors
on `cuda:1` is queued on a stream of `cuda:1`, so a stream of `cuda:0` orders nothing: waiting for it waits for other
work, or for none, and what is read then may not be written yet.

## Example

```python
import torch


def prefetch(batches, device: torch.device):
    stream = torch.cuda.Stream()
    for batch in batches:
        with torch.cuda.stream(stream):
            batch = batch.to(device, non_blocking=True)
        torch.cuda.current_stream(device).wait_stream(stream)
        yield batch
```

## Use instead

```python
import torch


def prefetch(batches, device: torch.device):
    stream = torch.cuda.Stream(device)
    for batch in batches:
        with torch.cuda.stream(stream):
            batch = batch.to(device, non_blocking=True)
        torch.cuda.current_stream(device).wait_stream(stream)
        yield batch
```

## When it is right

- The current device was set to the one in use: `torch.cuda.set_device(device)`, `with torch.cuda.device(device):`.
- Timers: they measure whatever is current.
- Everything is on the current device: there is no other one in sight.

## Fix safety

A suggestion: pass the device. The streams that wait for this one must be of that device as well.

## How a run confirms it

With `cuda:0` current and the tensors on `cuda:1`, work of `cuda:1` runs inside of a side stream of `cuda:0`, or
`cuda:0` is synchronised.

## Known problems

A program that sets the current device in another file is reported, where it makes a stream for copies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.changes import with_argument
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, device_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Constant, DeviceName, Instance, Opaque, Tensor
from devlint.placement.domain.lattice import SOME_INDEX, Device, Known, describe, is_given
from devlint.rules.rule import Rule
from devlint.semantics import process_setting
from devlint.semantics.current_device import OnCurrentDevice, on_current_device
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Argument
    from devlint.placement.domain.events import Begun, Called, Created, Moved


@dataclass(slots=True)
class _Definition:
    """What one definition says about devices."""

    given: list[str] = field(default_factory=list)
    """Its device parameters."""
    used: list[tuple[Device, str, cst.CSTNode, bool]] = field(default_factory=list)
    """Devices it puts tensors on, how they are spelled, where, and whether by a copy that does not block."""
    calls: list[tuple[Called, OnCurrentDevice]] = field(default_factory=list)
    times: bool = False


class StreamOnCurrentDevice(Rule):
    code = "DEV603"
    name = "stream-on-current-device"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self._definitions: dict[str, _Definition] = {}
        self._sets_device = False
        """Some function of the file chooses the current device."""

    @staticmethod
    def wakes_at_call(name: str) -> bool:
        return on_current_device(name) is not None

    def _of(self, event: Begun | Called | Created | Moved) -> _Definition:
        return self._definitions.setdefault(event.scope.qualname, _Definition())

    def begun(self, event: Begun) -> Iterable[Draft]:
        names = [name for name, value in event.arguments if isinstance(value, DeviceName)]
        self._of(event).given += names
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        if event.moves and event.named is not None:
            flag = event.call.keyword("non_blocking")
            asynchronous = flag is not None and not (isinstance(flag.value, Constant) and not flag.value.value)
            self._use(event, event.target, event.named, asynchronous)
        return ()

    def created(self, event: Created) -> Iterable[Draft]:
        device = device_of(event.value)
        if event.named is not None and device is not None:
            self._use(event, device, event.named, False)
        return ()

    def _use(self, event: Created | Moved, device: Device, named: Argument, asynchronous: bool) -> None:
        if _is_chosen(device):
            spelled = code_of(named.node)
            if isinstance(named.value, (Tensor, Opaque)) and named.keyword != "device":
                spelled += ".device"
            self._of(event).used.append((device, spelled, event.node, asynchronous))

    def called(self, event: Called) -> Iterable[Draft]:
        setting = process_setting(event.name)
        if setting is not None and "current" in setting[0]:
            self._sets_device = True
        found = on_current_device(event.name)
        if found is not None:
            argument = event.call.argument("device", found.position)
            none = argument is not None and isinstance(argument.value, Constant) and argument.value.value is None
            if (argument is None or none) and not event.call.unpacks:
                self._of(event).calls.append((event, found))
        elif event.name.startswith("time.") or event.call.keyword("enable_timing") is not None:
            self._of(event).times = True
        return ()

    def finish(self) -> Iterable[Draft]:
        for definition in self._definitions.values():
            for event, found in definition.calls:
                draft = self._draft(definition, event, found)
                if draft is not None:
                    yield draft

    def _draft(self, definition: _Definition, event: Called, found: OnCurrentDevice) -> Draft | None:
        current = event.result.device if isinstance(event.result, Instance) else None
        index = current.index if isinstance(current, Known) else None
        if index == SOME_INDEX or (definition.times and not found.makes_stream):
            return None
        elsewhere = [use for use in definition.used if _is_elsewhere(use[0], index)]
        if index is not None and not elsewhere:
            return None
        copies = [use for use in elsewhere if use[3] or isinstance(use[0], Known)]
        confidence = Confidence.LOW
        if copies and (found.makes_stream or index is not None):
            # Where somebody sets the current device, it is set to this one as a rule.
            unsure = (self._sets_device and index is None) or event.scope.role in (Role.TEST, Role.BENCHMARK)
            confidence = Confidence.LOW if unsure else Confidence.MEDIUM
        spelled = (copies or elsewhere)[0][1] if elsewhere else next(iter(definition.given), "")
        if not spelled:
            return None
        call = quoted(event.node, f"`{event.name}()`")
        here = "the current device" if index is None else f"cuda:{index}"
        differs = "is" if index is not None and isinstance((copies or elsewhere)[0][0], Known) else "may be"
        trace = tuple(
            DraftStep(node, event.scope, "its tensors go there", describe(device))
            for device, _, node, _ in (copies or elsewhere)[:1]
        )
        return Draft(
            node=event.node,
            scope=event.scope,
            message=f"{call} is about {here}, but this function works on `{spelled}`, which {differs} another one",
            confidence=confidence,
            trace=(DraftStep(event.node, event.scope, "the current device is meant", describe(current or _CURRENT)),
                   *trace),
            repair=Repair(
                Applicability.SUGGESTION,
                f"pass `device={_argument(spelled)}`",
                with_argument(event.node, "device", _argument(spelled)),
            ),
        )  # fmt: skip


_CURRENT = Known("cuda")


def _argument(spelled: str) -> str:
    return f'"cuda:{spelled}"' if spelled.isdecimal() else spelled


def _is_chosen(device: Device) -> bool:
    """The caller's choice, or a device with an index: not `cuda`, which is the current one, and not the CPU."""
    indexed = isinstance(device, Known) and not device.on_cpu and device.index not in (None, SOME_INDEX)
    return indexed or is_given(device)


def _is_elsewhere(device: Device, index: int | None) -> bool:
    return not isinstance(device, Known) or device.index != index
