"""A module keeps a tensor as a plain attribute, so `.to()` leaves it behind.

## What it does

Finds tensors stored on `self` of a module (also in lists, dicts and comprehensions) that are neither parameters nor
buffers and then meet, in `forward` or what it calls, values that move with the module; methods that a class inherits
are read with what the class itself keeps, and with what it overrides. Where the tensor is only returned from `forward`,
the finding is a warning. So it is where the constructor was handed what it computes the tensor of, with low confidence
where it keeps the argument as it is: it stays with whoever handed it in, unless the constructor registers another of
its arguments as a buffer; what it makes on the device of such an argument stays there too. What a derived class hands
to the constructor of its base, which keeps it, counts as made by that. And so it is where nothing is known of what
the tensor meets, or of where it is, but the same constructor registers another tensor as a buffer: it says that tensors
of the class move. What the constructor makes on the module's own device stays behind too: a module is built on the CPU,
unless its constructor is told a device or moves something. A tensor that the constructor puts on the accelerator of the
machine stays there: beside what moves with the module it is a warning, unless the class goes to that accelerator as a
whole, or brings there what it is given. So is what a method called `fit` computes of its data and other methods read:
it stays where the data was.

## Why is this bad

`Module.to` moves parameters, buffers and submodules. A plain attribute stays where it was made, on the CPU, and the
first `forward` on an accelerator raises.

## Example

```python
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, length: int, width: int) -> None:
        super().__init__()
        self.table = torch.zeros(length, width)

    def forward(self, words):
        return words + self.table
```

## Use instead

```python
import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, length: int, width: int) -> None:
        super().__init__()
        self.register_buffer("table", torch.zeros(length, width), persistent=False)

    def forward(self, words):
        return words + self.table
```

## When it is right

- The tensor is moved where it is used: `self.table.to(words.device)`.
- The class overrides `_apply` or `to` and moves it there.
- A loader of the package builds whatever model it is asked for under `with torch.device(device):`, or a test sets the
  default device before it builds its own: nothing is moved later, and nothing is left behind. The confidence is low.
- The object is no module. Where it is one of which a move takes nothing else along, no parameter, buffer or part, its
  callers may well work on the CPU: a warning.
- It is 0-dim in element-wise arithmetic, an index into `[]`, or used on the CPU only.
- It stands beside a buffer and is only handed to other functions, which may bring it over: low. `__eq__` compares
  objects as they were built: there it is not reported.

## Fix safety

Unsafe: a buffer is a key of `state_dict`, and checkpoints written before would no longer load. `persistent=False`
keeps the keys as they are; a model that is built on the meta device and then loaded gets no value for such a buffer.

## How a run confirms it

After the module was moved, a walk over its attributes finds this tensor on the old device, and it clashes.

## Known problems

Attributes set from outside the class are not seen. A Parameter that is handed in as a tensor is registered by the
store, and is reported all the same where `forward` meets it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.changes import RegisterBuffer
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step, provenance_of, trace_of
from devlint.drafts.wording import device_of, failure, operand_and_placement
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.own_transfers import moves_itself
from devlint.placement.domain.abstract_values import (
    Container,
    DeviceName,
    Instance,
    Kind,
    Module,
    Opaque,
    Tensor,
    Value,
)
from devlint.placement.domain.events import Called
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Anchor,
    Device,
    Known,
    SameAs,
    is_device_by_name,
    is_movable,
    is_of_module,
    is_of_parameter,
    leaves,
    may_be_cpu,
)
from devlint.placement.domain.provenance import Step, StepKind
from devlint.placement.domain.scope import Setting
from devlint.records import replace
from devlint.rules.rule import Rule
from devlint.rules.state.fitted_state import FittedState
from devlint.rules.state.kept_on_chosen import KeptOnChosen
from devlint.semantics import Dim
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.domain.events import (
        Begun,
        ClassCompleted,
        DeviceMismatch,
        Loaded,
        Moved,
        PlainAttributeUsed,
        Returned,
        Stored,
        UndecidedMismatch,
    )
    from devlint.placement.domain.scope import Scope


class UnregisteredTensor(Rule):
    code = "DEV501"
    name = "unregistered-tensor"
    severity = Severity.ERROR
    error_when_confirmed = True
    of_moved_modules = True
    claims_before = ("DEV504",)  # stale-stored-device

    def __init__(self) -> None:
        self._tensors: set[int] = set()
        """Targets of assignments that store a tensor itself, and no container of tensors, by their identity."""
        self._as_given: set[int] = set()
        """Those that store what a name holds."""
        self._used: dict[int, PlainAttributeUsed | Called] = {}
        """By the store: where what it keeps is first computed with."""
        self._claimed: set[int] = set()
        """Stores that a clash was seen of."""
        self._told: set[int] = set()
        """Stores of tensors that were handed in, which are reported."""
        self._handed_in: list[tuple[str, Step, Draft]] = []
        """By class and store: the findings about them."""
        self._registers_given: set[Scope] = set()
        """Constructors that register a tensor which they were handed as a buffer."""
        self._on_chosen = KeptOnChosen()
        self._fitted = FittedState()
        self._built_beside: set[str] = set()
        """Classes that the file builds itself, of what is where the caller works."""
        self._owners: dict[str, ClassInfo] = {}
        """The classes of the file."""
        self._moves: set[str] = set()
        """Of these, the ones that hold what a move takes along."""

    def begun(self, event: Begun) -> Iterable[Draft]:
        if event.owner is not None:
            self._owners.setdefault(event.owner.qualname, event.owner)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        import libcst as cst

        self._fitted.stored(event)
        if event.scope.class_name is not None and (_is_parameter(event.value) or _may_hold_state(event.value)):
            self._moves.add(event.scope.class_name)
        if isinstance(event.value, Tensor):
            self._tensors.add(id(event.node))
            if isinstance(event.value_node, cst.Name):
                self._as_given.add(id(event.node))
        return ()

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        for mine, theirs in event.left_behind:
            step = stored_step(mine.value, event.scope)
            if step is None or isinstance(mine.value, Module) or _is_parameter(mine.value):
                continue
            self._claimed.add(id(step.node))
            doubtful = self._holds_nothing_else(step.scope)
            yield Draft(
                node=step.node,
                scope=step.scope,
                severity=Severity.WARNING if doubtful else None,
                message=f"`{_attribute(step)}` is a plain attribute, so it stays on the CPU when the module moves, but "
                f"{operand_and_placement(theirs)}; {failure(event, theirs)}",
                confidence=min(
                    _confidence(event, mine.value, device_of(theirs.value)),
                    Confidence.MEDIUM if doubtful else Confidence.HIGH,
                ),
                trace=trace_of(event),
                repair=self._buffer(step),
            )
            return

    def _holds_nothing_else(self, scope: Scope) -> bool:
        """Whether no move takes anything of the class along: whoever calls it has no reason to work elsewhere.

        Fixture `nothing_else_moves`.
        """
        owner = self._owners.get(scope.class_name or "")
        classes = owner.order if owner is not None else ()
        known = all(one.complete and self._owners.get(one.qualname) is one for one in classes)
        return bool(classes) and known and self._moves.isdisjoint(one.qualname for one in classes)

    def undecided_mismatch(self, event: UndecidedMismatch) -> Iterable[Draft]:
        """A tensor that was handed to the constructor and is kept plain: it stays with whoever handed it in."""
        self._on_chosen.undecided_mismatch(event)
        if event.scope.setting is not Setting.FORWARD or event.scope.role is Role.TEST:
            return ()
        for mine in event.operands:
            step = _handed_in(mine.value)
            other = next((o for o in event.operands if o is not mine and is_of_module(device_of(o.value))), None)
            if step is None or other is None or id(step.node) in self._told:
                continue
            self._told.add(id(step.node))
            steps = (draft_step(s) for s in reversed(tuple(provenance_of(mine.value) or ())))
            draft = Draft(
                node=step.node,
                scope=step.scope,
                severity=Severity.WARNING,
                message=f"`{_attribute(step)}` is a plain attribute, so it stays where the constructor got it when the "
                f"module moves, but {operand_and_placement(other)}",
                # Many objects that keep what they were given are built where they work, and never moved.
                confidence=Confidence.LOW if id(step.node) in self._as_given else Confidence.MEDIUM,
                trace=(*steps, DraftStep(event.node, event.scope, "they meet here")),
                repair=self._buffer(step),
            )
            self._handed_in.append((step.scope.class_name or "", step, draft))
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._on_chosen.moved(event)
        self._fitted.moved(event)
        return ()

    def loaded(self, event: Loaded) -> Iterable[Draft]:
        self._fitted.loaded(event)
        return ()

    def finish(self) -> Iterable[Draft]:
        for step, other, event in self._on_chosen.finish():
            yield Draft(
                node=step.node,
                scope=step.scope,
                severity=Severity.WARNING,
                message=f"`{_attribute(step)}` is a plain attribute, so it stays on the accelerator that the "
                f"constructor chose, but {operand_and_placement(other)}",
                confidence=Confidence.MEDIUM,
                trace=(draft_step(step), DraftStep(event.node, event.scope, "they meet here")),
                repair=self._buffer(step),
            )
        for owner, step, draft in self._handed_in:
            if owner not in self._built_beside:
                # Of two tensors that were handed in one is a buffer: whoever builds the object moves it afterwards.
                beside = step.scope in self._registers_given and not _PARAMETERS.search(_attribute(step))
                yield replace(draft, confidence=Confidence.MEDIUM) if beside else draft

    def returned(self, event: Returned) -> Iterable[Draft]:
        """Handed out of `forward` beside results that are where the inputs are."""
        if event.scope.setting is not Setting.FORWARD:
            return
        for value in _handed_back(event.value):
            step = stored_step(value, event.scope)
            if step is None or not isinstance(value, Tensor) or _is_parameter(value):
                continue
            if value.device != CPU or value.dim is not Dim.NONZERO:
                continue
            yield Draft(
                node=step.node,
                scope=step.scope,
                severity=Severity.WARNING,
                message=f"`{_attribute(step)}` is a plain attribute, so it stays on the CPU when the module moves; "
                "`forward` returns it where its caller expects a tensor beside the inputs",
                confidence=Confidence.MEDIUM,
                trace=(draft_step(step), DraftStep(event.node, event.scope, "returned here")),
                repair=self._buffer(step),
            )

    def plain_attribute_used(self, event: PlainAttributeUsed) -> Iterable[Draft]:
        # Two objects are compared as they were built (fixture `beside_buffers`).
        compares = event.scope.qualname.endswith((".__eq__", ".__ne__"))
        if event.scope.setting in (Setting.FORWARD, Setting.METHOD) and not compares:
            known = self._used.get(id(event.store))
            self._used[id(event.store)] = event if known is None or isinstance(known, Called) else known
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        """What is handed to a function of the project or of another library is computed with there. What builds an
        object, as in `Weighted(mask * w)(x)`, has the tensor where it works (fixture `handed_in`)."""
        self._on_chosen.called(event)
        if event.scope.class_name is not None and event.name.startswith((".register_", ".add_module")):
            self._moves.add(event.scope.class_name)
        built = event.result.info if isinstance(event.result, Module) else None
        if built is not None and event.name.split(".")[-1][:1].isupper():
            values = (argument.value for argument in event.call.arguments)
            placed = any(isinstance(value, (Tensor, Opaque)) and is_movable(value.device) for value in values)
            self._built_beside |= {built.qualname} if placed else set()
        if event.scope.setting in (Setting.FORWARD, Setting.METHOD) and event.name not in _READ_ANYWHERE:
            for argument in event.call.arguments:
                # `index.to(self.table.device)` brings the index there; nothing is computed with the table.
                named = isinstance(argument.value, DeviceName)
                provenance = None if named else provenance_of(argument.value)
                step = provenance.step if provenance is not None else None
                if step is not None and step.kind is StepKind.STORED and not event.name.startswith("torch."):
                    self._used.setdefault(id(step.node), event)
        return ()

    def class_completed(self, event: ClassCompleted) -> Iterable[Draft]:
        """Beside a buffer of the same constructor, which says that tensors of this class move with the module."""
        facts = event.facts
        self._on_chosen.class_completed(event)
        yield from self._fitted.of_class(event)
        if not facts.info.is_module:
            return
        buffers = {fact.scope: fact for fact in facts.attributes.values() if fact.kind == "buffer"}
        self._registers_given |= {scope for scope, fact in buffers.items() if _is_given(fact.value)}
        for fact in facts.attributes.values():
            used, buffer = self._used.get(id(fact.node)), buffers.get(fact.scope)
            if used is None or buffer is None or fact.stores > 1 or fact.registered:
                continue
            if id(fact.node) in self._claimed or id(fact.node) in self._told:
                continue
            if fact.scope.class_name != facts.info.qualname or moves_itself(facts.info, fact.name):
                continue  # a base class tells of its own
            if not isinstance(fact.value, Tensor) or not _stays_behind(fact.value):
                continue
            step = provenance_of(fact.value)
            if step is None or step.step.kind is not StepKind.STORED:
                continue
            yield Draft(
                node=fact.node,
                scope=fact.scope,
                severity=Severity.WARNING,
                message=f"`self.{fact.name}` is a plain attribute, so it stays where it is when the module moves, "
                f"unlike the buffer `self.{buffer.name}`; `{used.scope.qualname.rpartition('.')[2]}` computes with it",
                # What it is handed to may bring it over, or work on the host (fixture `handed_in_beside_buffers`).
                confidence=Confidence.LOW if isinstance(used, Called) else Confidence.MEDIUM,
                trace=(
                    draft_step(step.step),
                    DraftStep(buffer.node, buffer.scope, f"`self.{buffer.name}` is registered here"),
                    DraftStep(used.node, used.scope, "computed with here"),
                ),
                repair=self._buffer(step.step),
            )

    def _buffer(self, step: Step) -> Repair:
        import libcst as cst

        name = _attribute(step).removeprefix("self.")
        message = (
            f'`self.register_buffer("{name}", ..., persistent=False)` (without `persistent=False` it adds a key to '
            "`state_dict`)"
        )
        if id(step.node) in self._tensors and isinstance(step.node, cst.Attribute):
            return Repair(Applicability.UNSAFE, message, (RegisterBuffer(step.node),))
        return Repair(Applicability.SUGGESTION, message)


_PARAMETERS = re.compile(r"weight|bias|param|gamma|beta|embed|kernel")
"""Names of what may be a Parameter that a constructor was handed: the store registers one."""

_READ_ANYWHERE = frozenset(
    "len print str repr isinstance type id list float int bool getattr hasattr setattr copy.copy copy.deepcopy".split()
)
"""Functions to which it does not matter where a tensor is."""


def _handed_back(result: Value) -> tuple[Value, ...]:
    """What `forward` returns: the result, its items, or what an object of the project is made of."""
    if isinstance(result, Container):
        return result.items
    if isinstance(result, Instance) and result.info is not None:
        return tuple(held for _, held in result.details or result.given)
    return (result,)


def stored_step(value: Value, reader: Scope) -> Step | None:
    """The store of a plain attribute that another method reads; None where the value was moved since."""
    device = device_of(value)
    if device is None or not may_be_cpu(device):
        return None
    for step in provenance_of(value) or ():
        if step.kind is StepKind.MOVED:
            return None
        # A cache that one call of `forward` makes and reads is a creation's matter, not registration's.
        if step.kind is StepKind.STORED:
            return step if step.scope.qualname != reader.qualname else None
    return None


def _stays_behind(value: Tensor) -> bool:
    """On the CPU, where the constructor's argument was, or nobody knows where; on an accelerator it was put on purpose.

    A number on the CPU may meet tensors anywhere, and what is made of unknown data may be one.
    """
    for leaf in leaves(value.device):
        if isinstance(leaf, Known) and leaf != CPU:
            return False
        if isinstance(leaf, SameAs) and leaf.symbol.anchor is not Anchor.PARAMETER:
            return False
    provenance = provenance_of(value)
    given = provenance is not None and provenance.first.kind is StepKind.GIVEN
    return value.dim is Dim.NONZERO or (given and value.dim is Dim.UNKNOWN)


def _may_hold_state(value: Value) -> bool:
    """A part that may have parameters, or what nobody knows, which may be one."""
    if isinstance(value, Container):
        return any(map(_may_hold_state, value.innermost))
    return isinstance(value, Module) and value.holds_state is not False


def _is_given(value: Value) -> bool:
    provenance = provenance_of(value)
    return provenance is not None and provenance.first.kind is StepKind.GIVEN


def _handed_in(value: Value) -> Step | None:
    """The store of a tensor that the constructor was handed, or computed of one; None for others.

    What it made on the device of such a tensor is there as well. An argument that is kept as it is may be a Parameter,
    which the store registers: what is computed of one is none.
    """
    provenance = provenance_of(value)
    if not isinstance(value, Tensor) or provenance is None or _is_parameter(value) or value.dim is Dim.ZERO:
        return None
    stored, first = provenance.find(StepKind.STORED), provenance.first
    # A constructor that is told a device puts things where the object is to work. What `forward` stores in its turn
    # comes after its first call.
    known = [leaf for leaf in leaves(value.device) if leaf != UNKNOWN]
    by_caller = bool(known) and all(is_of_parameter(leaf) and not is_device_by_name(leaf) for leaf in known)
    if stored is None or not by_caller or first.kind not in (StepKind.GIVEN, StepKind.MADE):
        return None
    return stored if stored.scope == first.scope and stored.scope.setting is Setting.CONSTRUCTION else None


def _is_parameter(value: Value) -> bool:
    return isinstance(value, Tensor) and value.kind in (Kind.PARAMETER, Kind.BUFFER)


def _attribute(step: Step) -> str:
    name = step.name or "attribute"
    return name if name.startswith("self.") else f"self.{name}"


def _confidence(event: DeviceMismatch, value: Value, device: Device | None) -> Confidence:
    provenance = provenance_of(value)
    if provenance is not None and provenance.find(StepKind.WRAPPED) is not None:
        # A parameter in the other arm of the constructor: what reads it may test which of the two it is, by other means
        # (fixture `parameter_or_tensor`). A method that computes with it whatever it is does not.
        asks = event.arms or event.scope.class_name is None
        return Confidence.LOW if asks else Confidence.MEDIUM
    if event.callers_on_cpu:
        # Each call of the method brings its argument home before, as a counter wants it (fixture `counted_on_the_cpu`).
        return Confidence.LOW
    found = leaves(device) if device is not None else ()
    outside = any(isinstance(leaf, SameAs) and leaf.symbol.anchor is not Anchor.MODULE for leaf in found)
    return Confidence.MEDIUM if outside else Confidence.HIGH
