"""The code names `cuda` where something at hand could say which device is meant.

## What it does

Finds `.cuda()`, `.to("cuda")`, `device="cuda"`, `torch.device("cuda")`, `torch.autocast("cuda")` and
`torch.amp.GradScaler("cuda")`, without an index, in functions that are handed a device, a tensor or a module they do
not move themselves, and in functions that move something else to the device of an object, as `self.device`. Of tensors
it does so where another method of the class brings something to `self.device`. In a method of a Module it finds
tensors made there that `.cuda()` moves because the machine has an accelerator, whatever device the module is on. So it
does where inputs go to the machine's accelerator for a model that a caller handed in, and that the file never moves.
And a class that asks an attribute of its own, `if self.use_cuda:`, before it moves something there, and in another
public method asks nobody. And `.cuda(device)` of a device that is the CPU on a machine without an accelerator, in one
arm, or by default: it takes no CPU. And what the constructor of a Module puts on the current accelerator, whatever
becomes of the module.

## Why is this bad

The function works for callers on one kind of accelerator, and on the one that happens to be current. For a caller on
the CPU, on `mps` or `xpu` it raises; for a caller on `cuda:1` it puts its own tensors on `cuda:0`. The caller's
choice was there to be read.

## Example

```python
import torch


def with_noise(x: torch.Tensor) -> torch.Tensor:
    return x + torch.randn(x.shape, device="cuda")
```

## Use instead

```python
import torch


def with_noise(x: torch.Tensor) -> torch.Tensor:
    return x + torch.randn(x.shape, device=x.device)
```

## When it is right

- A test for the device decides whether the line runs, in the function or around it.
- It stands where the argument that could say the device is None.
- The function or its class is named for CUDA or the GPU: that is its contract.
- The function moves all it is given to `cuda`: then it is the one place that chooses.
- Scripts, notebooks, tests and benchmarks choose a device: low. So do functions that use other parts of `torch.cuda`,
  and those that move whole modules without a device, and `torch.autocast("cuda", enabled=False)`.
- The module keeps its parameters away from where it works, as its names say: `self.offload_device`, `self.cpu_offload`.
  They cannot tell the device.
- A default argument, a command-line default, and what a device argument gets where the caller left it out.

## Fix safety

`.to(x.device)` and `device=x.device` are safe where one argument says it that is certainly a tensor and has no other
value by then, unsafe where it is likely a tensor. With several candidates, or a module alone, it is a suggestion.
`.to(device)` for `.cuda(device)` is unsafe: what failed without an accelerator goes on.

## How a run confirms it

Run on the CPU, and on `cuda:1` with `cuda:0` current.

## Known problems

What a class keeps on `self` is a candidate only where a method of the class uses it, or where the class is a Module.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint import semantics
from devlint.drafts.draft import Draft
from devlint.finding import Severity
from devlint.placement.domain.abstract_values import (
    NONE,
    Constant,
    Container,
    DeviceName,
    Instance,
    Kind,
    Module,
    Opaque,
    Tensor,
    Truth,
)
from devlint.placement.domain.events import Fate, Sink
from devlint.placement.domain.lattice import CPU, GuardKind
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.repairs.device_expressions import Definitions
from devlint.rules.current_device import goes_to_current, is_current, round_trip
from devlint.rules.naming.accelerator_places import Definition, Place, draft_of, switches, used_by_classes
from devlint.rules.naming.asked_elsewhere import AskedElsewhere
from devlint.rules.naming.chosen_for_models import ChosenForModels
from devlint.rules.naming.device_candidates import in_use
from devlint.rules.naming.parts_of_modules import PartsOfModules
from devlint.rules.naming.refused_by_cuda import RefusedByCuda
from devlint.rules.rule import Rule
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.events import (
        Begun,
        Called,
        CallersModuleCalled,
        Compared,
        Created,
        DeviceNamed,
        Moved,
        Stored,
        Tested,
    )
    from devlint.placement.domain.lattice import Decided
    from devlint.placement.domain.scope import Scope

NAMED = frozenset({Sink.DEVICE, Sink.ARGUMENT, Sink.TRANSFER, Sink.DEVICE_TYPE})

HARMLESS = ("torch.cuda.amp.", "torch.cuda.empty_cache", "torch.cuda.manual_seed", "torch.cuda.max_memory")
"""Parts of `torch.cuda` that a function for any device may use as well."""


class HardcodedAccelerator(Rule):
    code = "DEV302"
    name = "hardcoded-accelerator"
    severity = Severity.WARNING
    gives_way_to = ("DEV102", "DEV309", "DEV301")

    def __init__(self) -> None:
        self._definitions: dict[Scope, Definition] = {}
        self._begun = Definitions()
        self._for_models = ChosenForModels()
        self._asked_elsewhere = AskedElsewhere()
        self._refused = RefusedByCuda()
        self._parts = PartsOfModules()
        self._elsewhere: set[int] = set()
        """Literals that stand at the top level or in a comparison."""
        self._strings: dict[int, DeviceNamed] = {}
        """By call: `.to("cuda")`, until it is known of what."""

    def _in(self, scope: Scope) -> Definition:
        return self._definitions.setdefault(scope, Definition())

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._in(event.scope).begun = event
        self._begun.note(event)
        self._refused.begun(event)
        self._parts.begun(event)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        """`device = device or torch.device("cuda")`: the argument itself is filled in (fixture `filled_in`)."""
        self._for_models.stored(event)
        self._refused.stored(event)
        self._parts.stored(event)
        definition = self._definitions.get(event.scope)
        if definition is not None and event.target.isidentifier():
            definition.bound.add(event.target)
        if definition is None or definition.begun is None or event.value_node is None:
            return ()
        if isinstance(event.value, (Tensor, Opaque)) and is_current(event.value.device):
            # `x = x[None].cuda()`: from here on its device is the current one.
            definition.moved.append((event.target, False))
        devices = {name for name, value in definition.begun.arguments if isinstance(value, DeviceName)}
        filled_in = {event.target, _replaced(event.value_node)} & devices
        if filled_in:
            from devlint.placement.syntax.nodes import descend

            definition.filled_in.update((id(node), name) for node in descend(event.value_node) for name in filled_in)
        return ()

    def tested(self, event: Tested) -> Iterable[Draft]:
        if isinstance(event.value, Truth) and event.value.about_device:
            self._in(event.scope).tests_device = True
            self._in(event.scope).tests_place |= event.value.known is None
        return ()

    def created(self, event: Created) -> Iterable[Draft]:
        self._note_in_use(event)
        return ()

    def _note_in_use(self, event: Created | Moved) -> None:
        candidate = in_use(event)
        if candidate is not None:
            self._in(event.scope).in_use.append(candidate)

    def compared(self, event: Compared) -> Iterable[Draft]:
        sides = (event.left, event.right)
        for side in sides if NONE not in sides else ():
            if isinstance(side, DeviceName):
                self._in(event.scope).tests_device = self._in(event.scope).tests_place = True
                self._elsewhere.add(id(side.node))
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        cuda = event.name.startswith(("torch.cuda.", "triton."))
        if cuda and not event.name.startswith(HARMLESS) and not semantics.is_device_probe(event.name):
            self._in(event.scope).of_cuda = True
        return ()

    def device_named(self, event: DeviceNamed) -> Iterable[Draft]:
        self._parts.named(event)
        if event.scope.setting is Setting.MODULE_LEVEL:
            self._elsewhere.add(id(event.node))
        elif event.sink in NAMED and _is_plain(event):
            if event.sink == Sink.TRANSFER and event.call is not None and event.call.node.func is not None:
                self._strings[id(event.call.node)] = event
            else:
                off = _is_switched_off(event)
                call = event.call.node if event.call is not None else None
                absent = _absent(event.arms)
                place = Place(event.node, event.scope, event.sink, event.text, call=call, weak=off, absent=absent)
                place.bound = frozenset(self._in(event.scope).bound)
                place.written_here = call is not None and any(a.value is event.node for a in call.args)
                self._in(event.scope).places.append(place)
        return ()

    def callers_module_called(self, event: CallersModuleCalled) -> Iterable[Draft]:
        self._for_models.called(event)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._for_models.moved(event)
        self._asked_elsewhere.moved(event)
        self._refused.moved(event)
        self._parts.moved(event)
        named = self._strings.pop(id(event.node), None)
        if event.scope.setting is Setting.MODULE_LEVEL or not event.moves:
            return ()
        definition = self._in(event.scope)
        self._note_in_use(event)
        of_module = isinstance(event.receiver, Module)
        if is_current(event.target):
            definition.moved.append((event.receiver_text, of_module))
        where_available = event.guarded and _is_made_for_module(event)
        in_place = event.fate == Fate.DISCARDED and not _is_a_tensor(event.receiver)
        if not goes_to_current(event) or (event.guarded and not where_available) or round_trip(event) is not None:
            return ()
        if event.fate != Fate.USED and not in_place:
            return ()
        if (event.method == "to" and named is None) or _is_anothers(event):
            return ()
        node = event.node if named is None else named.node
        text = f".{event.method}()" if named is None else named.text
        absent = _absent(event.arms)
        sides = (event.receiver_text, of_module, event)
        place = Place(node, event.scope, Sink.TRANSFER, text, *sides, absent=absent)
        place.where_available, place.in_place = where_available, in_place
        place.bound = frozenset(definition.bound)
        place.conditions = frozenset(decided.guard.text for decided in event.arms if decided.holds)
        place.written_here = event.named is None or event.named.node is node
        definition.places.append(place)
        return ()

    def finish(self) -> Iterable[Draft]:
        told = set()
        chosen = switches(self._definitions.values())
        shared = used_by_classes(self._definitions.values())
        for definition in self._definitions.values():
            for place in definition.places:
                place.weak |= not place.conditions.isdisjoint(chosen.get(place.scope.class_name or "", ()))
                if id(place.node) not in self._elsewhere and not _is_contract(place.scope):
                    of_class = shared.get(place.scope.class_name or "", ())
                    draft = draft_of(self._begun, definition, place, of_class) or self._asked_elsewhere.draft_of(place)
                    if draft is not None:
                        told.add(id(draft.node))
                        yield draft
        yield from self._for_models.finish(frozenset(told))
        yield from self._refused.drafts()
        yield from (draft for draft in self._parts.drafts() if id(draft.node) not in told)


def _is_a_tensor(value: Value) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike)


def _is_made_for_module(event: Moved) -> bool:
    """In a method of a Module: a tensor made on the CPU goes to the accelerator because the machine has one."""
    in_use = event.scope.setting in (Setting.FORWARD, Setting.METHOD) and event.scope.role is Role.LIBRARY
    on_cpu = isinstance(event.receiver, Tensor) and event.receiver.device == CPU
    return in_use and on_cpu and not any(d.guard.kind is GuardKind.ON_ACCELERATOR for d in event.arms)


def _is_plain(event: DeviceNamed) -> bool:
    name = event.name
    if name is None or not is_current(name.device) or event.guarded or name.chosen_by_probe:
        return False
    enabled = event.call.keyword("enabled") if event.call is not None else None
    # `torch.autocast("cuda", enabled=x.is_cuda)` is its own test (fixture `enabled_where_it_applies`).
    return enabled is None or not (isinstance(enabled.value, Truth) and enabled.value.about_device)


def _replaced(value: cst.CSTNode) -> str:
    """`device` of `device or torch.device("cuda")`; empty for other expressions."""
    import libcst as cst

    if isinstance(value, cst.BooleanOperation) and isinstance(value.operator, cst.Or):
        return value.left.value if isinstance(value.left, cst.Name) else ""
    return ""


def _absent(arms: tuple[Decided, ...]) -> frozenset[str]:
    """The arguments that these conditions say are None."""
    guards = (decided.guard for decided in arms if decided.holds and decided.guard.kind is GuardKind.IS_NONE)
    return frozenset(guard.subject.name for guard in guards if guard.subject is not None)


def _is_switched_off(event: DeviceNamed) -> bool:
    """`torch.autocast("cuda", enabled=False)`."""
    enabled = event.call.keyword("enabled") if event.call is not None else None
    return enabled is not None and isinstance(enabled.value, Constant) and enabled.value.value is False


def _is_anothers(event: Moved) -> bool:
    """A parameter that loses its registration is DEV202's, a list DEV204's; a class of its own has its own `cuda()`."""
    unwrapped = isinstance(event.result, Tensor) and event.result.kind is Kind.UNWRAPPED
    return unwrapped or isinstance(event.receiver, (Container, Instance))


def _is_contract(scope: Scope) -> bool:
    """Named for the accelerator, or a place where data is prepared (fixture `own_contract`)."""
    return scope.setting is Setting.HOST or is_named_for_accelerator(scope.qualname)
