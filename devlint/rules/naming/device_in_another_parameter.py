"""A device is handed over by position and arrives in a parameter that takes no device.

## What it does

Finds calls of the project's own functions and classes where a device is a positional argument, the parameter at that
position is another one, and the function has a parameter for a device that the call leaves to its default. So it is
with a switch for the accelerator, `use_cuda`, that arrives in another parameter than the one of its own name.

## Why is this bad

The function works on its default device, not on the one that was asked for, and takes the device for a length, a flag
or a name. As a flag it is true, and nothing raises: the program runs on the wrong device.

## Example

```python
import torch


def spectrogram(clip: torch.Tensor, length: int = 132300, device: str = "cuda") -> torch.Tensor:
    return clip[:length].to(device)


def describe(clip: torch.Tensor, device: torch.device) -> torch.Tensor:
    return spectrogram(clip, device)
```

## Use instead

```python
import torch


def spectrogram(clip: torch.Tensor, length: int = 132300, device: str = "cuda") -> torch.Tensor:
    return clip[:length].to(device)


def describe(clip: torch.Tensor, device: torch.device) -> torch.Tensor:
    return spectrogram(clip, device=device)
```

## When it is right

- The parameter at that position takes a device as well, by its name or its annotation.
- The call gives the device again, by its keyword.
- `*args` and `**kwargs` hand on what somebody else chose.

## Fix safety

Naming the parameter changes which device the function works on, so the fix is unsafe.

## How a run confirms it

Called with `cuda:1`, the function returns tensors on another device.

## Known problems

Devices with a name that does not end with `device` are found only where the call itself makes them. Files in which
`torch` stands nowhere are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.rules.rule import Rule

if TYPE_CHECKING:
    from devlint.placement.domain.events import DeviceMisplaced


class DeviceInAnotherParameter(Rule):
    code = "DEV311"
    name = "device-in-another-parameter"
    severity = Severity.ERROR
    error_when_confirmed = True

    def device_misplaced(self, event: DeviceMisplaced) -> Iterable[Draft]:
        taken, wanted = event.taken.name.value, event.wanted.name.value
        default = code_of(event.wanted.default) if event.wanted.default is not None else "None"
        keyword = f"{wanted}={code_of(event.node)}"
        last = event.call.args[-1].value is event.node
        yield Draft(
            node=event.node,
            scope=event.scope,
            message=f"{quoted(event.node, 'the device')} is the argument for `{taken}`; "
            f"the `{wanted}` of `{event.callee}` keeps its default `{default}`",
            confidence=Confidence.HIGH,
            trace=(DraftStep(event.taken, event.declared_in, f"`{taken}` stands at this position"),),
            repair=Repair(
                Applicability.UNSAFE if last else Applicability.SUGGESTION,
                f"hand it over by its name: `{keyword}`",
                (Replace(event.node, keyword),) if last else (),
            ),
        )
