"""The variable that says which accelerators a process sees is misspelled, set too late, or forgotten afterwards.

## What it does

Finds five mistakes with `CUDA_VISIBLE_DEVICES`:

- a name in `os.environ` that is nearly this one (`CUDA_VISIBLE_DEVICE`): an error;
- a value set after CUDA was started in the same place, by `torch.cuda.is_available()`, `device_count()`, a `.cuda()`;
- an index that counts the hidden devices too: with `"2,3"` visible, the devices are `cuda:0` and `cuda:1`;
- a number that is read back from it and used as an index: it is a physical one, and the visible ones are counted;
- a number that it is set to, `= str(args.gpu)`, and that is an index afterwards, `torch.device("cuda", args.gpu)`.

## Why is this bad

The CUDA driver reads the variable once, when it starts, and never says that it did not find it. A misspelled or late
setting leaves every device visible, and the program takes its neighbour's. An index that is not visible any more
raises "invalid device ordinal".

## Example

```python
import os

import torch

if torch.cuda.is_available():
    os.environ["CUDA_VISIBLE_DEVICES"] = "1"
```

## Use instead

```python
import os

os.environ["CUDA_VISIBLE_DEVICES"] = "1"

import torch
```

Setting it in the shell or in the launcher is surer still: nothing can have started CUDA before.

## When it is right

- Set before the first question to CUDA. `import torch`, `torch.device(...)`, seeding and naming a device start nothing.
- Set for child processes: in a copy of the environment, or in a definition that starts processes.
- Other vendors' variables: `HIP_VISIBLE_DEVICES`, `MUSA_VISIBLE_DEVICES`, `ASCEND_RT_VISIBLE_DEVICES`.
- The variable is only read: counted, or shown.
- The number is set anew, `args.gpu = 0`, or the variable is set in one arm and the number used in the other.

## Fix safety

A suggestion: correct the name, move the line before the first use of CUDA, count the visible devices from 0.

## How a run confirms it

`torch.cuda.device_count()` is the same before and after the line.

## Known problems

The order is that of the source within one definition, and of module-level code before definitions. Two arms of one
branch, one of which starts CUDA and the other of which sets the variable, look like one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Constant, Container, Reference, Tensor, Value
from devlint.placement.domain.events import Sink
from devlint.placement.domain.lattice import Decided, Known, exclude, is_accelerator
from devlint.records import dataclass
from devlint.rules.naming.cuda_start import MODULE_LEVEL, CudaStart
from devlint.rules.naming.hidden_by_number import HiddenByNumber
from devlint.rules.naming.visible_devices import NAME, is_misspelling, visible
from devlint.rules.naming.visible_devices_read import TAKES_ORDINAL, ReadBack
from devlint.rules.rule import Rule
from devlint.rules.waking import any_of
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, Called, Compared, Created, DeviceNamed, Event, Moved, Stored

SETTERS = frozenset({"os.environ.setdefault", "os.putenv"})


@dataclass(frozen=True, slots=True)
class _Setting:
    event: Event
    value: Value
    touch: Event | None
    """What started CUDA before, in the same definition."""


class VisibleDevicesMisused(Rule):
    code = "DEV303"
    name = "visible-devices-misused"
    severity = Severity.WARNING
    wakes_at = any_of(
        stored=lambda event: event.attribute is not None and _is_environment(event.owner),
        moved=lambda event: event.named is not None,
    )

    def __init__(self) -> None:
        self._start = CudaStart()
        self._settings: list[_Setting] = []
        self._indices: list[DeviceNamed] = []
        self._read_back = ReadBack()
        self._hidden = HiddenByNumber()

    @staticmethod
    def wakes_at_call(name: str) -> bool:
        return name in SETTERS or name in TAKES_ORDINAL or name == "os.environ.update"

    # -- what happens, in order ---------------------------------------------------------------------------------------

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._hidden.begun(event)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._read_back.stored(event)
        self._hidden.stored(event)
        if event.attribute is not None and _is_environment(event.owner):
            if event.attribute == NAME:
                self._hidden.set(event, event.value_node)
            return self._set(event, event.attribute, event.value, event.node)
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        self._start.note_call(event)
        self._read_back.called(event)
        self._hidden.called(event)
        return self._set_by_call(event) if event.name in SETTERS or event.name == "os.environ.update" else ()

    def _set_by_call(self, event: Called) -> Iterable[Draft]:
        if event.name in SETTERS:
            key, value = event.call.argument("key", 0), event.call.argument("value", 1)
            if key is not None and value is not None and isinstance(key.value, Constant):
                yield from self._set(event, str(key.value.value), value.value, key.node)
        elif event.name == "os.environ.update":
            for argument in event.call.arguments:
                if argument.keyword is not None:
                    yield from self._set(event, argument.keyword, argument.value, argument.node)
                elif isinstance(argument.value, Container) and argument.value.keys is not None:
                    for name, item in zip(argument.value.keys, argument.value.items, strict=False):
                        yield from self._set(event, str(name), item, argument.node)

    def compared(self, event: Compared) -> Iterable[Draft]:
        names = [side.value for side in (event.left, event.right) if isinstance(side, Constant)]
        if event.scope.qualname == MODULE_LEVEL and "__main__" in names:
            self._start.in_main = True
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        if isinstance(event.target, Known) and event.target.type == "cuda":
            self._start.note_touch(event)
        self._read_back.moved(event)
        self._hidden.moved(event)
        return ()

    def created(self, event: Created) -> Iterable[Draft]:
        if isinstance(event.value, Tensor) and is_accelerator(event.value.device):
            self._start.note_touch(event)
        return ()

    def device_named(self, event: DeviceNamed) -> Iterable[Draft]:
        if event.sink not in (Sink.OPTION, Sink.COMPARISON):
            self._indices.append(event)
        return ()

    def _set(self, event: Event, name: str, value: Value, node: cst.CSTNode) -> Iterable[Draft]:
        if name == NAME:
            touch = self._start.touch_in(event.scope)
            together = touch is not None and not exclude(_arms(touch), _arms(event))
            self._settings.append(_Setting(event, value, touch if together else None))
        elif is_misspelling(name):
            yield Draft(
                node=node,
                scope=event.scope,
                severity=Severity.ERROR,
                message=f"`{name}` is not the variable that CUDA reads; `{NAME}` stays unset and every device visible",
                repair=Repair(Applicability.SUGGESTION, f"write `{NAME}`", _spelled(node, name)),
            )

    # -- what it comes to ---------------------------------------------------------------------------------------------

    def finish(self) -> Iterable[Draft]:
        late = [
            _late(setting, touch)
            for setting in self._settings
            if (touch := setting.touch or self._start.at_import_before(setting.event.scope)) is not None
            and not self._start.starts_processes(setting.event.scope)
        ]
        yield from late
        yield from self._read_back.drafts()
        if not late:
            yield from self._renumbered()
            yield from self._hidden.drafts()

    def _renumbered(self) -> Iterable[Draft]:
        counts = [_visible_of(setting) for setting in self._settings]
        if not counts or not all(counts):
            return
        widest = max(counts, key=len)
        setting = self._settings[counts.index(widest)]
        for event in self._indices:
            index = _cuda_index(event.text)
            if index is None or index < len(widest) or not _reaches(setting, event):
                continue
            now = ", ".join(f"cuda:{number}" for number in range(len(widest)))
            yield Draft(
                node=event.node,
                scope=event.scope,
                message=f"{quoted(event.node, f'`{event.text}`')} is not visible: `{NAME}` leaves "
                f"{', '.join(widest)}, which are called {now} in this process",
                confidence=Confidence.LOW if event.scope.role is Role.TEST else Confidence.MEDIUM,
                trace=(DraftStep(setting.event.node, setting.event.scope, "devices are hidden here"),),
                repair=_renumber(widest, index),
            )


def _arms(event: Event) -> tuple[Decided, ...]:
    """The conditions the event stands under, where it says so."""
    found: tuple[Decided, ...] = getattr(event, "arms", ())
    return found


def _is_environment(owner: Value | None) -> bool:
    return isinstance(owner, Reference) and owner.name == "os.environ"


def _late(setting: _Setting, touch: Event) -> Draft:
    event = setting.event
    return Draft(
        node=event.node,
        scope=event.scope,
        message=f"`{NAME}` is set after {quoted(touch.node, 'a use of CUDA')} has started CUDA; "
        "the driver read it then, so every device stays visible",
        confidence=Confidence.LOW if event.scope.role is Role.TEST else Confidence.MEDIUM,
        trace=(DraftStep(touch.node, touch.scope, "CUDA is started here"),
               DraftStep(event.node, event.scope, "set here, too late")),
        repair=Repair(Applicability.SUGGESTION, "set it before the first use of CUDA, or in the shell"),
    )  # fmt: skip


def _visible_of(setting: _Setting) -> tuple[str, ...]:
    value = setting.value
    return visible(value.value) if isinstance(value, Constant) and isinstance(value.value, str) else ()


def _cuda_index(text: str) -> int | None:
    number = text.removeprefix("cuda:")
    return int(number) if number.isdecimal() else None


def _reaches(setting: _Setting, event: DeviceNamed) -> bool:
    """Module-level settings are in force everywhere, a definition's own in itself."""
    return setting.event.scope.qualname in (MODULE_LEVEL, event.scope.qualname)


def _renumber(ids: tuple[str, ...], index: int) -> Repair:
    wanted = str(index)
    if wanted in ids:
        message = f'count the visible devices: physical device {wanted} is `"cuda:{ids.index(wanted)}"` now'
    else:
        message = "count the visible devices from 0"
    return Repair(Applicability.SUGGESTION, message)


def _spelled(node: cst.CSTNode, name: str) -> tuple[Replace, ...]:
    """The variable's name in the string that misspells it."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    strings = [part for part in descend(node) if isinstance(part, cst.SimpleString) and name in part.value]
    return (Replace(strings[0], strings[0].value.replace(name, NAME)),) if len(strings) == 1 else ()
