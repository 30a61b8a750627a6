"""A module keeps the device it was built for and places tensors by it after it has been moved.

## What it does

Finds modules that store a device at construction, `self.device = device`, and later make or move tensors with it. The
confidence is medium where such a tensor then meets the module's own parameters, its inputs or its submodules, and the
constructor leaves the parameters where they are made, so that somebody has to move the module. It is low otherwise: for
modules that are built on that device, that have no state or keep several devices, for devices that a class of another
file stores, and for those of a parameter without a default that only inputs are brought to: whoever builds the object
has to say where it works.

A device that a method reads off the module's own parameters in its first call, `if self._device is None:`, and keeps
for all later ones is reported where it is kept.

A construction that leaves the device to its default, and whose result is moved to another one, is reported itself:
`Net(width).to(device)` of `def __init__(self, width, device="cpu")`.

A class that is no Module and has a `to` of its own which moves its parts, `self.model.to(device)`, has to note the
device where its methods bring to `self.device` what these parts are given.

## Why is this bad

`Module.to` moves parameters and buffers; it does not know that an attribute names a device. After `net.to("cuda")` the
attribute still says "cpu", the next tensor is made there, and the first operation that joins the two raises
"Expected all tensors to be on the same device". So do wrappers that move modules for their users: DataParallel, which
runs copies on every device, Lightning, accelerate.

## Example

```python
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width: int, device: str = "cpu") -> None:
        super().__init__()
        self.device = torch.device(device)
        self.width = width
        self.rnn = nn.GRU(width, width)

    def forward(self, words):
        hidden = torch.zeros(1, words.size(1), self.width, device=self.device)
        return self.rnn(words, hidden)
```

## Use instead

```python
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.rnn = nn.GRU(width, width)

    def forward(self, words):
        hidden = torch.zeros(1, words.size(1), self.width, device=words.device)
        return self.rnn(words, hidden)
```

A property reads the device where it is needed: `return next(self.parameters()).device`.

## When it is right

- `device` is a property that reads a parameter or a buffer, or LightningModule's.
- The class overrides `to`, `cuda` or `_apply`, or assigns the attribute again in another method.
- The device is used in the constructor only.
- The constructor builds the module on that device and nobody moves it afterwards. The confidence is low.
- What is placed meets only what was placed by the same attribute.
- A pipeline of transformers is told the device as well, `pipe.device = device`, where its model is moved.

## Fix safety

A suggestion: `x.device` at each place of use, where every use makes a tensor in a method that is handed one. There is
no edit elsewhere: an input that is moved to the attribute cannot say where to, and a property changes what code outside
of the class finds.

## How a run confirms it

The module is built on the CPU, moved, and called: the tensor born or moved at the place of use clashes.

## Known problems

Whoever names the device twice, `Net(device=device).to(device)`, and never moves the module again has no trouble.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import trace_of
from devlint.drafts.wording import code_of, device_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.domain.abstract_values import DeviceName, Module, Self
from devlint.placement.domain.lattice import CPU, describe
from devlint.placement.domain.scope import Setting
from devlint.repairs.device_expressions import Definitions
from devlint.rules.rule import Rule
from devlint.rules.state.cached_devices import CachedDevices
from devlint.rules.state.models_of_pipelines import ModelsOfPipelines
from devlint.rules.state.moved_untold import MOVES, moved_untold
from devlint.rules.state.own_transfers import OwnTransfers
from devlint.rules.state.stored_device_uses import StoredDeviceUses
from devlint.rules.waking import always, any_of

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.placement.domain.class_facts import AttributeFact, ClassFacts
    from devlint.placement.domain.events import (
        Begun,
        Called,
        ClassCompleted,
        Created,
        DeviceMismatch,
        Moved,
        Stored,
        UndecidedMismatch,
    )


class StaleStoredDevice(Rule):
    code = "DEV504"
    name = "stale-stored-device"
    severity = Severity.WARNING
    claims_before = ("DEV206",)  # submodule-after-move
    wakes_at = any_of(
        moved=always,
        created=lambda event: event.named is not None,
        stored=lambda event: isinstance(event.value, DeviceName) and isinstance(event.owner, Self),
    )

    def __init__(self) -> None:
        self._uses = StoredDeviceUses()
        self._stores: dict[tuple[str, str], Stored] = {}
        self._built_on: set[str] = set()
        """Classes whose constructor hands a device on: their parameters are made there, or moved."""
        self._definitions = Definitions()
        self._cached = CachedDevices(self._definitions)
        self._in_pipelines = ModelsOfPipelines()
        self._own_transfers = OwnTransfers()

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._definitions.note(event)
        self._own_transfers.begun(event)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._cached.stored(event)
        self._in_pipelines.stored(event)
        self._definitions.note_stored(event)
        constructs = event.scope.setting is Setting.CONSTRUCTION and event.scope.class_name is not None
        if constructs and isinstance(event.owner, Self) and isinstance(event.value, DeviceName):
            self._stores[event.scope.class_name or "", event.attribute or ""] = event
        return ()

    def _note_construction(self, event: Called) -> None:
        """`self.to(device)`, `nn.Linear(2, 2).to(device)`, `Encoder(width, device)`, `super().__init__(device)`."""
        moves = isinstance(event.receiver, Self) and event.name in (".to", ".cuda")
        given = any(isinstance(argument.value, DeviceName) for argument in event.call.arguments)
        if event.scope.class_name is not None and (moves or (given and event.name != "torch.device")):
            self._built_on.add(event.scope.class_name)

    def created(self, event: Created) -> Iterable[Draft]:
        self._uses.note(event, event.named, makes=True)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        # What comes to the host and goes back has its place from the attribute all the same.
        if event.moves:
            self._uses.note(event, event.named, makes=False)
        self._in_pipelines.moved(event)
        yield from moved_untold(event)

    def finish(self) -> Iterable[Draft]:
        return self._in_pipelines.drafts()

    def undecided_mismatch(self, event: UndecidedMismatch) -> Iterable[Draft]:
        self._uses.note_operation(event)
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        """A submodule is handed what the attribute placed."""
        if event.scope.setting is Setting.CONSTRUCTION:
            self._note_construction(event)
            return ()
        self._uses.note_call(event)
        return ()

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        """A device that is known to be the CPU clashes by itself."""
        for operand in (event.offending, event.other):
            use = self._uses.placing(operand.value)
            store = self._stores.get((event.scope.class_name or "", use.attribute)) if use is not None else None
            if use is not None and store is not None and device_of(operand.value) == CPU:
                message = _message(f"self.{use.attribute}", use.event.node, event.node)
                stays = event.scope.class_name in self._built_on
                confidence = Confidence.LOW if stays else Confidence.MEDIUM
                changes = self._followed(event.scope.class_name or "", use.attribute)
                yield _draft(store, message, confidence, trace_of(event), changes)
                return

    def class_completed(self, event: ClassCompleted) -> Iterable[Draft]:
        facts = event.facts
        if not facts.info.is_module:
            yield from self._left_by_own_transfer(facts)
            return
        if facts.info.kind is ClassKind.LIGHTNING or facts.info.defines(*MOVES):
            return
        yield from self._cached.of_class(facts)
        devices = [fact for fact in facts.attributes.values() if fact.kind == "device"]
        for fact in devices:
            if fact.stores == 1 and not facts.info.defines(fact.name):
                yield from self._judged(event, fact, alone=len(devices) == 1)

    def _left_by_own_transfer(self, facts: ClassFacts) -> Iterable[Draft]:
        kept = (fact for fact in facts.attributes.values() if fact.kind == "device" and fact.stores == 1)
        for fact in kept:
            draft = self._own_transfers.draft_of(facts, fact, self._uses.of(facts.info.qualname, fact.name))
            if draft is not None:
                yield draft

    def _judged(self, event: ClassCompleted, fact: AttributeFact, *, alone: bool) -> Iterable[Draft]:
        facts = event.facts
        uses = self._uses.of(facts.info.qualname, fact.name)
        if not uses:
            return
        meetings = [
            meeting
            for meeting in self._uses.meetings_of(facts.info.qualname, fact.name)
            if not meeting.callee or _is_submodule(facts, meeting.callee)
        ]
        own = fact.scope.path == event.scope.path
        stays = any(c.qualname in self._built_on for c in facts.info.order)
        sure = bool(meetings) and alone and own and not stays and _has_state(facts)
        # Inputs that are brought there are to be where everybody says (fixture `told_by_everybody_low`).
        sure = sure and (any(use.makes for use in uses) or not self._is_asked_of_everybody(facts.info.qualname, fact))
        used, met = (meetings[0].use.event, meetings[0].event) if meetings else (uses[0].event, None)
        trace = [DraftStep(used.node, used.scope, f"`self.{fact.name}` places a tensor here")]
        if met is not None:
            trace.append(DraftStep(met.node, met.scope, "it meets what moves with the module here"))
        message = _message(f"self.{fact.name}", used.node, met.node if met is not None else None)
        changes = self._followed(facts.info.qualname, fact.name)
        yield _draft(fact, message, Confidence.MEDIUM if sure else Confidence.LOW, tuple(trace), changes)

    def _is_asked_of_everybody(self, owner: str, fact: AttributeFact) -> bool:
        """Whether it is a parameter without a default: who builds the object says where it works, and moves it."""
        from devlint.placement.syntax.nodes import parameters_of

        store, definition = self._stores.get((owner, fact.name)), self._definitions.node_of(fact.scope)
        if store is None or store.value_node is None or definition is None:
            return False
        kept = code_of(store.value_node)
        asked = (one.name.value for one in parameters_of(definition) if one.default is None)
        return any(kept in (name, f"torch.device({name})") for name in asked)

    def _followed(self, owner: str, attribute: str) -> tuple[Change, ...]:
        """Each method makes its tensors on the device of its first tensor argument; empty if one of them has none."""
        changes: list[Change] = []
        for use in self._uses.of(owner, attribute):
            named = use.event.named
            expression = self._definitions.first_tensor(use.event.scope, use.event.node)
            if (
                not use.makes
                or expression is None
                or expression.applicability is Applicability.SUGGESTION
                or named is None
            ):
                return ()
            changes.append(Replace(named.node, expression.code))
        return tuple(changes)


def _draft(
    store: AttributeFact | Stored,
    message: str,
    confidence: Confidence,
    trace: tuple[DraftStep, ...],
    changes: tuple[Change, ...],
) -> Draft:
    device = describe(device_of(store.value) or CPU)
    kept = DraftStep(store.node, store.scope, "the device is kept here", device, passes_on=False)
    return Draft(
        node=store.node,
        scope=store.scope,
        message=message,
        confidence=confidence,
        trace=(kept, *trace),
        repair=Repair(
            Applicability.SUGGESTION,
            "use the device of an input where it is needed, or make it a property that returns "
            "`next(self.parameters()).device`",
            changes,
        ),
    )


def _message(attribute: str, used: cst.CSTNode, met: cst.CSTNode | None) -> str:
    fails = f"{_named(met)} fails then" if met is not None else "it stays behind then"
    return (
        f"`{attribute}` keeps the device from construction, which `.to()` does not change; {quoted(used, 'a tensor')} "
        f"is placed by it after the module has moved, and {fails}"
    )


def _named(met: cst.CSTNode) -> str:
    """What fails: the callee where the call is long."""
    import libcst as cst

    node = met.func if isinstance(met, cst.Call) else met
    return quoted(node, "an operation")


def _is_submodule(facts: ClassFacts, name: str) -> bool:
    fact = facts.attributes.get(name)
    return fact is not None and isinstance(fact.value, Module) and not fact.value.stateless


def _has_state(facts: ClassFacts) -> bool:
    """Something in it moves: a parameter, a buffer, or a submodule that may have some."""
    return any(
        fact.kind in ("parameter", "buffer") or _is_submodule(facts, fact.name) for fact in facts.attributes.values()
    )
