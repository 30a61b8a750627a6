"""One particular accelerator is named by a literal index.

## What it does

Finds literal indices where PyTorch takes a device: `"cuda:1"`, `.cuda(0)`, `.to(1)`, `torch.device("cuda", 2)`,
`torch.device(0)`, `torch.cuda.set_device(0)`, `device_ids=[0, 1]`, also when the literal is a default argument or goes
through a variable first.

## Why is this bad

On a machine with fewer accelerators the line raises "invalid device ordinal". On one with enough, the value sits on
that accelerator and everything the caller placed on another one clashes with it.

## Example

```python
import torch
from torch import nn


def load(net: nn.Module) -> nn.Module:
    return net.to("cuda:1")
```

## Use instead

```python
import torch
from torch import nn


def load(net: nn.Module, device: torch.device) -> nn.Module:
    return net.to(device)
```

Without an index, `"cuda"` is the current device, which `CUDA_VISIBLE_DEVICES`, a launcher or `torch.cuda.set_device`
decide.

## When it is right

- The index comes from `LOCAL_RANK`, from an argument, or from a loop over `device_count()`.
- A `map_location` dict that renames what a checkpoint says.
- `"cpu:0"` and `"mps:0"`: there is no second one.
- Tests and benchmarks that are about several devices: there the confidence is low.
- `"cuda:0" if torch.cuda.is_available() else "cpu"`, and other uses of an index behind a test for it: low as well. The
  device exists; it may only not be the one the caller uses. So is any choice between the first one and the CPU,
  `"cuda:0" if count > 0 else "cpu"`.
- What an object keeps as its device is only compared with it, `trainer.device == torch.device("cuda:0")`: low.
- But medium where a device of any index gets the first, `if device.type == "cuda": device = torch.device("cuda", 0)`,
  or a choice asks no more of it than whether it is the CPU, `"cuda:0" if device != "cpu" else "cpu"`.
- The first device in a function that reads `CUDA_VISIBLE_DEVICES`, or sets it: low. It is there, and may be the only
  one.
- The first device in a package that writes `CUDA_VISIBLE_DEVICES`, and in a file of actors of ray that are given one
  accelerator each (`num_gpus=1`): low as well.
- A command-line default, and the first device as the default of a parameter: low. The user can say another one, and
  the functions around it mostly do.
- The first device where an object that may say its own does not, `getattr(runner, "device", "cuda:0")`: low.
- The main block of a file that takes no arguments, a demonstration: low.
- A file that puts its values on the first device in four places or more, and names no other index: low. It is written
  for that device, and what it computes with is all there.

## Fix safety

A suggestion: drop the index. The value then follows the current device, which may be another one.

## How a run confirms it

With one visible device the line raises; or, with `cuda:1` in use, a tensor is found on the literal's device.

## Known problems

A script that is only ever run on its author's machine names its devices with good reason: there the confidence is
medium. So it is for the first device everywhere: who uses another one is not in sight.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint import semantics
from devlint.drafts.changes import DropArgument, Replace
from devlint.drafts.draft import Draft, Premise, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Constant, DeviceName, Module, Opaque, Tensor, Value
from devlint.placement.domain.events import DeviceNamed, Sink
from devlint.placement.domain.lattice import Known
from devlint.rules.naming.chosen_or_the_cpu import asked_device, is_or_the_cpu, stands_in_for_an_object
from devlint.rules.naming.visible_devices import NAME as VISIBLE
from devlint.rules.rule import Rule
from devlint.rules.waking import always, any_of
from devlint.semantics import NamedDevice
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.drafts.changes import Change
    from devlint.placement.domain.events import Begun, Called, Compared, Defaulted, Moved, Stored
    from devlint.placement.domain.lattice import Device
    from devlint.placement.domain.scope import Scope

OPTIONS = frozenset({".add_argument", "click.option", "typer.Option"})
"""Calls that declare a command-line option."""

COMMANDS = frozenset({"argparse.ArgumentParser", "click.command", "typer.run", "fire.Fire"})
"""Calls that make a command of a program."""

ONE_OF_ITS_KIND = frozenset({"cpu", "mps", "meta"})
"""Types of which a process has one device, so that an index names nothing in particular."""

POLICY = 4
"""Places of a file that name the first device; from as many on it is no slip."""


class HardcodedDeviceIndex(Rule):
    code = "DEV301"
    name = "hardcoded-device-index"
    severity = Severity.WARNING
    gives_way_to = ("DEV102", "DEV309")
    wakes_at = any_of(device_named=always)

    def __init__(self) -> None:
        self._counting: set[str] = set()
        """Definitions that ask how many devices there are: a branch there may be about just this index."""
        self._asking: set[str] = set()
        """Definitions that read which devices are visible: the first of those is there, and may be the only one."""
        self._lists: set[int] = set()
        self._numbers: dict[int, DeviceNamed] = {}
        """By call: `.to(1)`, until it is known of what."""
        self._devices: dict[int, Draft] = {}
        """By call: `torch.device("cuda:1")`, until it is known whether it is only compared with."""
        self._chosen: set[int] = set()
        """Literals under a test for a device: they stay chosen where their value is used later."""
        self._on_the_first: list[Draft] = []
        """Values that are put on the first device, until it is known in how many places."""
        self._names_others = False
        self._in_main: list[Draft] = []
        """In a main block, until it is known whether the program takes arguments."""
        self._takes_arguments = False
        self._begun: dict[Scope, Begun] = {}
        self._by_machine: set[tuple[Scope, str]] = set()
        """Names of definitions that are bound to what the machine has."""

    @staticmethod
    def wakes_at_call(name: str) -> bool:
        return name in OPTIONS

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._begun[event.scope] = event
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        self._takes_arguments = self._takes_arguments or event.name in OPTIONS or event.name in COMMANDS
        if semantics.is_device_probe(event.name) and event.name.endswith(".device_count"):
            self._counting.add(event.scope.qualname)
        elif any(isinstance(a.value, Constant) and a.value.value == VISIBLE for a in event.call.positional):
            self._asking.add(event.scope.qualname)
        elif event.name in OPTIONS:
            default = event.call.keyword("default")
            if default is not None and isinstance(default.value, Constant) and isinstance(default.value.value, str):
                return self._drafts(DeviceNamed(default.node, event.scope, default.value.value, Sink.OPTION))
        return ()

    def device_named(self, event: DeviceNamed) -> Iterable[Draft]:
        if event.sink == Sink.TRANSFER and event.call is not None and event.text.isdecimal():
            self._numbers[id(event.call.node)] = event
        elif event.sink == Sink.DEVICE and event.call is not None:
            self._devices.update((id(event.call.node), draft) for draft in self._drafts(event))
        else:
            yield from self._drafts(event)

    def stored(self, event: Stored) -> Iterable[Draft]:
        """`if device.type == "cuda": device = torch.device("cuda", 0)`: the index that was given is lost."""
        if VISIBLE in event.target:
            self._asking.add(event.scope.qualname)  # the first of those that it says
        draft = self._devices.get(id(event.value_node))
        by_machine = (event.scope, event.target) in self._by_machine
        if isinstance(event.value, DeviceName) and event.value.chosen_by_probe:
            self._by_machine.add((event.scope, event.target))
        if draft is None:
            return ()
        tests = [decided.guard.text for decided in event.arms if decided.holds]
        typed = any(test.startswith(f"{event.target}.type == ") and "cpu" not in test for test in tests)
        asked = asked_device(draft.node, self._begun.get(event.scope))
        # `and device.index is None`: there is none to lose.
        # What the machine has chose the one before (fixture `chosen_by_helpers`).
        loses = (typed and not by_machine and not any(".index" in test for test in tests)) or asked is not None
        if loses and draft.scope.role not in (Role.TEST, Role.BENCHMARK):
            self._devices[id(event.value_node)] = replace(
                draft,
                message=f"{quoted(draft.node, 'the literal')} replaces whatever index `{asked or event.target}` was "
                "given",
                confidence=Confidence.MEDIUM,
            )
        return ()

    def compared(self, event: Compared) -> Iterable[Draft]:
        sides = ((event.left_node, event.right), (event.right_node, event.left))
        for node, other in sides:
            draft = self._devices.get(id(node))
            if draft is not None:
                # Without its index it would equal no tensor's device.
                words = Repair(Applicability.SUGGESTION, "compare the type, `.device.type`, or with another's device")
                # What an object keeps it may have chosen in the same words (fixture `kept_devices`).
                of_tensor = isinstance(other, DeviceName) and other.of_tensor
                confidence = draft.confidence if of_tensor else Confidence.LOW
                self._devices[id(node)] = replace(draft, repair=words, confidence=confidence)
        return ()

    def finish(self) -> Iterable[Draft]:
        yield from self._devices.values()
        throughout = len(self._on_the_first) >= POLICY and not self._names_others
        for draft in self._on_the_first:
            # What a method chose is put to use in others: the literal is its, wherever that is.
            chosen = any(is_or_the_cpu(draft.node, begun) for begun in self._begun.values())
            yield replace(draft, confidence=Confidence.LOW) if throughout or chosen else draft
        for draft in self._in_main:
            # Without arguments it is a demonstration, whose values are the reader's to fill in (fixture `main_block`).
            yield draft if self._takes_arguments else replace(draft, confidence=Confidence.LOW)

    def defaulted(self, event: Defaulted) -> Iterable[Draft]:
        """`device=torch.device("cuda:0")` of a parameter: the caller can say another one."""
        for key, draft in self._devices.items():
            if draft.node is event.value.node:
                self._devices[key] = replace(draft, confidence=_of_default(event.value.device, draft.confidence))
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        """A number alone does not say that it is a device's: `slider.to(1)`."""
        named = self._numbers.pop(id(event.node), None)
        if named is not None and (event.method != "to" or _is_torchs(event.receiver)):
            yield from self._drafts(named)

    def _drafts(self, event: DeviceNamed) -> Iterable[Draft]:
        named = _indexed(event)
        if named is None or event.sink == Sink.COMPARISON or self._is_of_reported_list(event):
            return
        kind, index = named
        self._names_others = self._names_others or index > 0
        draft = Draft(
            node=event.node,
            scope=event.scope,
            message=_message(event, kind, index),
            confidence=self._confidence(event, index),
            repair=_repair(event, kind),
            premise=Premise.FIRST_OF_SEVERAL if index == 0 else None,
        )
        if any("__main__" in decided.guard.text for decided in event.arms):
            self._in_main.append(draft)
        elif index == 0 and event.sink in _PLACING:
            self._on_the_first.append(draft)
        else:
            yield draft

    def _is_of_reported_list(self, event: DeviceNamed) -> bool:
        """Whether another index of the same `device_ids=[0, 1]` is reported already: the list is one choice."""
        if event.sink != Sink.DEVICE_IDS or event.call is None:
            return False
        key = id(event.call.node)
        reported = key in self._lists
        self._lists.add(key)
        return reported

    def _confidence(self, event: DeviceNamed, index: int) -> Confidence:
        if event.scope.role in (Role.TEST, Role.BENCHMARK) or event.sink == Sink.OPTION:
            return Confidence.LOW
        if event.guarded:
            self._chosen.add(id(event.node))
        guarded = id(event.node) in self._chosen
        # Index 0 exists wherever there is an accelerator at all; a higher one where the count was queried.
        if index == 0 and event.sink in (Sink.DEVICE, Sink.SET_DEVICE) and event.scope.qualname in self._asking:
            return Confidence.LOW
        if guarded and (index == 0 or event.scope.qualname in self._counting):
            return Confidence.LOW
        if event.sink == Sink.DEFAULT and index == 0:
            return Confidence.LOW
        begun = self._begun.get(event.scope)
        if index == 0 and (is_or_the_cpu(event.node, begun) or stands_in_for_an_object(event.node, begun)):
            return Confidence.LOW
        if guarded or event.sink in (Sink.DEFAULT, Sink.FALLBACK) or event.scope.role in (Role.SCRIPT, Role.NOTEBOOK):
            return Confidence.MEDIUM
        # The first device is there wherever there is one; who uses another is not in sight.
        return Confidence.HIGH if index > 0 else Confidence.MEDIUM


def _of_default(device: Device, elsewhere: Confidence) -> Confidence:
    """The confidence of a parameter's default, which would have ``elsewhere`` in the body."""
    first = isinstance(device, Known) and device.index == 0
    return Confidence.LOW if first else min(elsewhere, Confidence.MEDIUM)


_PLACING = frozenset({Sink.TRANSFER, Sink.ARGUMENT})


def _is_torchs(receiver: Value) -> bool:
    return isinstance(receiver, (Tensor, Module)) or (isinstance(receiver, Opaque) and receiver.tensorlike)


def _indexed(event: DeviceNamed) -> tuple[str, int] | None:
    """Type and index of an accelerator that is named by number."""
    text = f"cuda:{event.text}" if event.text.isdecimal() else event.text
    named = semantics.parse_device(text)
    if not isinstance(named, NamedDevice) or named.index is None or named.type in ONE_OF_ITS_KIND:
        return None
    return named.type, named.index


def _message(event: DeviceNamed, kind: str, index: int) -> str:
    literal, device = _spelling(event), f"{kind}:{index}"
    consequence = "tensors that the caller put on another index clash with it"
    if index > 0:
        fewer = "one accelerator" if index == 1 else f"fewer than {index + 1} accelerators"
        consequence = f"it fails on a machine with {fewer}, and {consequence}"
    match event.sink:
        case Sink.DEFAULT | Sink.FALLBACK | Sink.OPTION:
            return f"{literal} as a default means {device} for everybody who leaves it out; {consequence}"
        case Sink.SET_DEVICE:
            return f"{literal} makes {device} the current device of the whole process; {consequence}"
        case Sink.DEVICE_IDS:
            return f"{literal} in `device_ids` means {device} on every machine; {consequence}"
        case _:
            return f"{literal} means {device} on every machine; {consequence}"


def _spelling(event: DeviceNamed) -> str:
    """A bare number says little: it is shown in its call."""
    if event.text.isdecimal() and event.call is not None and event.sink in (Sink.TRANSFER, Sink.SET_DEVICE):
        return quoted(event.call.node, f"`{event.text}`")
    return quoted(event.node, f"`{event.text}`")


def _repair(event: DeviceNamed, kind: str) -> Repair:
    changes: tuple[Change, ...] = _without_index(event, kind)
    match event.sink:
        case Sink.SET_DEVICE:
            changes = ()
            message = 'take the index from the launcher: `int(os.environ["LOCAL_RANK"])`'
        case Sink.DEVICE_IDS:
            changes = ()
            message = "leave `device_ids` out to use every visible device, or take them from the caller"
        case Sink.TRANSFER if event.text.isdecimal() and event.call is not None:
            # `.cuda(0)` without its argument; `.to(0)` needs a name in its place.
            called = code_of(event.call.node.func)
            message = f"drop the index: `{called}()`" if called.endswith(f".{kind}") else f'drop the index: `"{kind}"`'
        case _:
            message = f'drop the index: `"{kind}"`, or take the device from the caller'
    return Repair(Applicability.SUGGESTION, message, changes)


def _without_index(event: DeviceNamed, kind: str) -> tuple[Change, ...]:
    """`"cuda:1"` becomes `"cuda"`, `.cuda(0)` becomes `.cuda()`, `torch.device("cuda", 1)` `torch.device("cuda")`."""
    import libcst as cst

    node, call = event.node, event.call.node if event.call is not None else None
    if isinstance(node, cst.SimpleString) and node.value.count(f"{kind}:") == 1:
        _, _, index = event.text.partition(":")
        return (Replace(node, node.value.replace(f"{kind}:{index}", kind)),)
    if not isinstance(node, cst.Integer) or call is None or event.sink == Sink.CONTEXT:
        return ()
    own = isinstance(call.func, cst.Attribute) and call.func.attr.value == kind
    second = len(call.args) > 1 and call.args[1].value is node
    if own or (second and event.sink == Sink.DEVICE):
        return (DropArgument(call, node),)
    return (Replace(node, f'"{kind}"'),) if event.sink in (Sink.DEVICE, Sink.TRANSFER, Sink.ARGUMENT) else ()
