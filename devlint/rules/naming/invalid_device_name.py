"""A device name that PyTorch refuses, or takes and changes.

## What it does

Finds names that reach PyTorch and are no devices: other words for an accelerator (`"gpu"`), another case (`"CUDA:0"`),
negative or malformed indices (`"cuda:-1"`, `"cuda: 0"`), and indices above 127, which PyTorch stores in eight bits. A
default that stands for what is still to be chosen, `device="auto"`, is one where the parameter, or the attribute that
keeps it, reaches PyTorch as it is, and nothing in the file looks for that word: a warning.

## Why is this bad

`torch.device` raises for what it does not know, on every machine: the line has never run. An index above 127 is worse:
`cuda:128` becomes `cuda:-128`, and `cuda:255` loses its index and means the current device.

## Example

```python
import torch


def tail(x: torch.Tensor) -> torch.Tensor:
    return x[-8:].to("gpu")
```

## Use instead

```python
import torch


def tail(x: torch.Tensor) -> torch.Tensor:
    return x[-8:].to("cuda")
```

## When it is right

- Names of backends that come as plugins (`npu`, `hpu`, `mlu`): they are devices where the plugin is installed. A plugin
  can register any name, so a well-formed name that is no word for hardware (`"neuron"`) is only reported at confidence
  low.
- Strings that never reach PyTorch: `Trainer(accelerator="gpu")`, TensorFlow's and JAX's names, a word of the project's
  own that is translated first, defaults that nobody has used yet, and `.to("km")` of something that is no tensor and
  no module.
- A number that the condition around has left out: `if local_rank != -1:`.
- `torch.cuda.set_device(-1)` and `torch.cuda.device(-1)`, which do nothing by contract.
- Tests: they hand in wrong names to see them refused. There the confidence is low.

## Fix safety

There is no fix: which device was meant is not written anywhere.

## How a run confirms it

The call raises, or the device prints under another name.

## Known problems

A backend that registers itself with `torch.utils.rename_privateuse1_backend` under a word for hardware is not
recognised.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft
from devlint.drafts.wording import quoted
from devlint.finding import Confidence, Severity
from devlint.placement.domain.abstract_values import Module, Opaque, Tensor, Value
from devlint.placement.domain.events import Sink
from devlint.rules.naming.refused_defaults import RefusedDefaults
from devlint.rules.naming.visible_devices import distance
from devlint.rules.rule import Rule
from devlint.semantics import Mangled, NamedDevice, Refused, parse_device
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import Begun, Created, DeviceNamed, Moved, Stored

HARDWARE = frozenset({"gpu", "gpus", "nvidia", "geforce", "amd", "rocm", "metal", "auto", "host", "any"})
"""Words for hardware, or for a choice, that no backend is called by."""

REACHES_TORCH = frozenset({Sink.DEVICE, Sink.ARGUMENT, Sink.SET_DEVICE, Sink.DEVICE_IDS, Sink.CONTEXT})


class InvalidDeviceName(Rule):
    code = "DEV309"
    name = "invalid-device-name"
    severity = Severity.ERROR
    error_when_confirmed = True
    gives_way_to = ("DEV102",)

    def __init__(self) -> None:
        self._transfers: dict[int, DeviceNamed] = {}
        """By call: names given to a transfer, until it is known of what."""
        self._defaults = RefusedDefaults()

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._defaults.begun(event)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._defaults.stored(event)
        return ()

    def created(self, event: Created) -> Iterable[Draft]:
        self._defaults.used(event)
        return ()

    def device_named(self, event: DeviceNamed) -> Iterable[Draft]:
        if event.sink == Sink.TRANSFER and event.call is not None:
            self._transfers[id(event.call.node)] = event
        elif event.sink in REACHES_TORCH:
            yield from _drafts(event)

    def moved(self, event: Moved) -> Iterable[Draft]:
        """`quantity.to("km")` is a transfer of nothing that torch knows (fixture `never_reaches_torch`)."""
        self._defaults.used(event)
        named = self._transfers.pop(id(event.node), None)
        if named is not None and (_is_torchs(event.receiver) or _means_a_device(named.text)):
            yield from _drafts(named)

    def finish(self) -> Iterable[Draft]:
        yield from self._defaults.drafts()


def _is_torchs(receiver: Value) -> bool:
    return isinstance(receiver, (Tensor, Module)) or (isinstance(receiver, Opaque) and receiver.tensorlike)


def _means_a_device(text: str) -> bool:
    """A device's name with a slip in it: another case, a surplus space, an index that is none."""
    kind = text.split(":")[0].strip().lower()
    return isinstance(parse_device(kind), NamedDevice)


def _drafts(event: DeviceNamed) -> Iterable[Draft]:
    consequence = _consequence(event)
    if consequence is not None:
        doubtful = event.scope.role is Role.TEST or _may_be_registered(event.text)
        yield Draft(
            node=event.node,
            scope=event.scope,
            message=f"{quoted(event.node, f'`{event.text}`')} {consequence}",
            confidence=Confidence.LOW if doubtful else Confidence.HIGH,
        )


def _may_be_registered(text: str) -> bool:
    """A well-formed type that torch does not have may be one that a plugin adds (fixture `devices`: `neuron`)."""
    kind, _, index = text.partition(":")
    well_formed = kind.isascii() and kind.isalpha() and kind.islower() and (not index or index.isdecimal())
    known = isinstance(parse_device(kind), NamedDevice)
    return well_formed and not known and kind not in HARDWARE and distance(kind, "cuda") > 1


def _consequence(event: DeviceNamed) -> str | None:
    """What becomes of the name; None where it is a device as it stands."""
    if _is_index(event):
        if any(event.text in decided.guard.text.split() for decided in event.arms):
            return None  # `if args.local_rank != -1`: for another number than that
        return _consequence_of_index(int(event.text), event.sink)
    match parse_device(event.text):
        case Refused(reason):
            return f"is refused by torch: {reason}; the call raises on every machine"
        case Mangled(prints_as=printed):
            return f"becomes `{printed}`: torch keeps device indices in 8 bits"
        case _:
            return None


def _consequence_of_index(index: int, sink: str) -> str | None:
    if index < 0:
        # Documented as doing nothing.
        quiet = sink in (Sink.SET_DEVICE, Sink.CONTEXT)
        return None if quiet else "is refused by torch: a device index must not be negative; the call raises"
    named = parse_device(f"cuda:{index}")
    if isinstance(named, Mangled):
        return f"becomes the index of `{named.prints_as}`: torch keeps device indices in 8 bits"
    return "is refused by torch: the index is too large" if isinstance(named, Refused) else None


def _is_index(event: DeviceNamed) -> bool:
    """Whether the literal is a number; the string "1" is no index but a name, and not a good one."""
    import libcst as cst

    return isinstance(event.node, (cst.Integer, cst.UnaryOperation)) and event.text.lstrip("-").isdecimal()
