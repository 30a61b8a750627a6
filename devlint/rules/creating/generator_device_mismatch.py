"""Random numbers are drawn on one type of device with a generator of another.

## What it does

Finds `generator=` arguments whose generator belongs to another type of device than the numbers drawn with it, and
samplers, loaders and splits that draw on a default device for which they have no generator. It also finds draws with a
generator of the caller's that are made on the CPU and moved to the caller's tensors at once.

## Why is this bad

A generator serves one type of device, and `torch.Generator()` without a device is the CPU's even where a default
device is set. A draw elsewhere raises "Expected a 'cuda' device type for generator but found 'cpu'". On a CPU-only
machine the two always agree.

## Example

```python
import torch


def jitter(x: torch.Tensor, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return x + torch.randn(x.shape, device=x.device, generator=generator)
```

```python
import torch
from torch.utils.data import DataLoader, Dataset

torch.set_default_device("cuda")


def batches(samples: Dataset) -> DataLoader:
    return DataLoader(samples, batch_size=8, shuffle=True)
```

## Use instead

```python
import torch


def jitter(x: torch.Tensor, seed: int) -> torch.Tensor:
    generator = torch.Generator(device=x.device).manual_seed(seed)
    return x + torch.randn(x.shape, device=x.device, generator=generator)
```

```python
import torch
from torch.utils.data import DataLoader, Dataset

torch.set_default_device("cuda")


def batches(samples: Dataset) -> DataLoader:
    generator = torch.Generator(device=torch.get_default_device())
    return DataLoader(samples, batch_size=8, shuffle=True, generator=generator)
```

## When it is right

- The numbers are drawn on the CPU with a generator that was made there, and moved.
- Only the index differs: a generator of cuda:0 draws on cuda:1.
- The generator was handed in and draws where `device=` says, or another method may have put another one in its place.
- The generator was handed in, and the docstring asks for one of the CPU, or the definition makes one of it where it
  is handed none: low confidence.
- A bare generator and a bare draw agree as long as no default device is set. A library cannot know that: its
  samplers are warned about where a torch sampler draws with the generator, other draws with low confidence.

## Fix safety

A suggestion: the stream of random numbers changes with the device. Who needs the same numbers everywhere draws on the
CPU and moves the result. There is no edit where the device has no name yet at the place where the generator is made.

## How a run confirms it

The draw raises.

## Known problems

A generator that is an argument is not judged where `device=` is given, even where it draws on two devices.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace, SetArgument, with_argument
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step, provenance_of, steps_of
from devlint.drafts.wording import code_of, device_of, failure_condition, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.evidence_docstrings import docstring_of
from devlint.placement.domain.abstract_values import Instance, Self, Tensor, Value
from devlint.placement.domain.lattice import CPU, Anchor, Device, Known, SameAs, describe, leaves
from devlint.placement.domain.provenance import Step
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import descend, dotted
from devlint.repairs.device_expressions import Definitions
from devlint.rules.rule import Rule
from devlint.rules.waking import always, any_of
from devlint.semantics.sampling import CLASH, GENERATOR, sampling
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.domain.events import Begun, Called, Created, DeviceMismatch, MismatchOperand, Moved, Stored
    from devlint.placement.domain.scope import Scope

FOLLOWS_DEFAULT = "torch.Generator(device=torch.get_default_device())"
SPEAKS_OF_DEFAULTS = ("torch.get_default_device", "torch.set_default_device", "torch.set_default_tensor_type")


class GeneratorDeviceMismatch(Rule):
    code = "DEV103"
    name = "generator-device-mismatch"
    severity = Severity.ERROR
    error_when_confirmed = True
    claims_before = ("DEV202",)  # parameter-transfer
    wakes_at = any_of(
        created=lambda event: event.call.keyword("generator") is not None,
        moved=always,
        stored=lambda event: event.attribute == "generator",
    )

    def __init__(self) -> None:
        self._bare: list[Draft] = []
        """Bare generators that meet bare draws, in a library."""
        self._kept: list[tuple[ClassInfo, Draft]] = []
        """Bare generators kept for the draws of a sampler's base class."""
        self._inherits: set[str] = set()
        """Classes that call the inherited `__iter__`."""
        self._definitions = Definitions()
        self._given: dict[str, frozenset[str]] = {}
        """By definition: its arguments, of which a generator may be one."""
        self._says_torch = False
        """Whether the file calls something by the name `torch`, so that another call can."""
        self._knows_defaults = False

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._definitions.note(event)
        names = (name for name, value in event.arguments if not isinstance(value, Instance))
        self._given[event.scope.qualname] = frozenset(names)
        return ()

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        if event.clash.kind != CLASH:
            return
        step = _made(event.offending.value)
        # What another function makes where it is told to is told wrong here, at the draw.
        made = step if step is not None and (step.scope == event.scope or step.bare) else None
        yield Draft(
            node=event.node if made is None else made.node,
            scope=event.scope if made is None else made.scope,
            message=_message(event),
            confidence=_confidence(event, step),
            trace=_trace(event),
            repair=self._repair(event, step),
        )

    def _repair(self, event: DeviceMismatch, step: Step | None) -> Repair:
        if event.offending.node is event.node:
            changes = with_argument(event.node, "generator", FOLLOWS_DEFAULT) if self._says_torch else ()
            return Repair(Applicability.SUGGESTION, f"pass `generator={FOLLOWS_DEFAULT}`", changes)
        device = device_of(event.other.value)
        target = ""
        if event.other.role == "device":
            target = code_of(event.other.node)
        elif event.other.node is not event.node and all(p.isidentifier() for p in code_of(event.other.node).split(".")):
            target = f"{code_of(event.other.node)}.device"
        elif isinstance(device, Known):
            target = f'"{device}"'
        written_out = target.startswith(('"', "'"))
        there = (
            written_out
            or step is None
            or (bool(target) and step.scope == event.scope and self._definitions.is_available(target, step))
        )
        if not target or not there:
            # A name of a comprehension, say, means nothing where the generator is made.
            return Repair(Applicability.SUGGESTION, "make the generator for the device that is drawn on")
        changes = _made_for(step, target) if step is not None else ()
        return Repair(Applicability.SUGGESTION, f"`torch.Generator(device={target})`", changes)

    def created(self, event: Created) -> Iterable[Draft]:
        """Draws that follow the default device, with a generator that does not."""
        argument = event.call.keyword("generator")
        if argument is None or event.named is not None or event.in_context or not event.factory.follows_context:
            return ()
        step = _bare_generator(argument.value)
        if step is not None and event.scope.role is Role.LIBRARY:
            name = quoted(event.call.node.func, "the draw")
            self._bare.append(_default_draft(step, f"{name} draws on the default device", event))
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        """A draw with the caller's generator that is made on the CPU and brought to the caller's tensors at once."""
        provenance = provenance_of(event.receiver)
        step = provenance.step if provenance is not None else None
        if (
            step is None
            or step.node is not event.receiver_node
            or not step.bare
            or event.scope.role is not Role.LIBRARY
        ):
            return
        name = _generator_name(step)
        if name not in self._given.get(event.scope.qualname, ()) or event.guarded or not _is_where_given(event.target):
            return
        target = code_of(event.named.node) if event.named is not None else ""
        changes = with_argument(step.node, "device", target) if target.endswith("device") else ()
        yield Draft(
            node=step.node,
            scope=step.scope,
            severity=Severity.WARNING,
            message=f"`{step.name}` draws on the CPU with the caller's `{name}`, and what it draws goes to "
            f"{describe(event.target)}; a generator of that device raises here",
            confidence=Confidence.LOW if self._is_for_the_cpu(event.scope, name) else Confidence.MEDIUM,
            trace=(draft_step(step), DraftStep(event.node, event.scope, "moved here", describe(event.target))),
            repair=Repair(Applicability.SUGGESTION, f"draw it there: `device={target}`", changes),
        )

    def _is_for_the_cpu(self, scope: Scope, name: str) -> bool:
        """Whether a definition asks for a generator of the CPU: it says so, or makes one where it is handed none."""
        import libcst as cst

        function = self._definitions.node_of(scope)
        said = re.split(r"\.\s|;|\n\s*\n", docstring_of(function))
        if any(re.search(rf"\b{name}\b", sentence) and re.search(r"\bCPU\b", sentence) for sentence in said):
            return True
        for node in descend(function.body) if function is not None else ():
            match node:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=bound))], value=value) if bound == name:
                    made = [call for call in descend(value) if isinstance(call, cst.Call)]
                    return any((dotted(call.func) or "").endswith("Generator") and not call.args for call in made)
        return False

    def called(self, event: Called) -> Iterable[Draft]:
        self._knows_defaults = self._knows_defaults or event.name in SPEAKS_OF_DEFAULTS
        self._says_torch = self._says_torch or _root(event.call.node) == "torch"
        if event.name == ".__iter__" and event.scope.class_name and code_of(event.call.node.func).startswith("super("):
            self._inherits.add(event.scope.class_name)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        step = _bare_generator(event.value)
        owner = event.owner
        if step is None or event.attribute != "generator" or not isinstance(owner, Self):
            return ()
        base = next(
            (name for c in owner.info.order for name in c.bases if isinstance(name, str) and _draws(name)), None
        )
        if base is not None and event.scope.role is Role.LIBRARY:
            draws = f"`{base.rsplit('.', 1)[-1]}` draws with it on the default device"
            self._kept.append((owner.info, _default_draft(step, draws, event)))
        return ()

    def finish(self) -> Iterable[Draft]:
        for info, draft in self._kept:
            if info.qualname in self._inherits or not info.defines("__iter__"):
                yield draft
        for draft in self._bare:
            yield draft if self._knows_defaults else replace(draft, confidence=Confidence.LOW)


def _generator_name(step: Step) -> str:
    """The name that a draw is handed as its generator, if it is a plain name."""
    import libcst as cst

    for argument in step.node.args if isinstance(step.node, cst.Call) else ():
        if argument.keyword is not None and argument.keyword.value == "generator":
            return argument.value.value if isinstance(argument.value, cst.Name) else ""
    return ""


def _is_where_given(device: Device) -> bool:
    """Whether the caller's tensors say the device, and no argument or setting that is a device itself."""
    symbols = [leaf.symbol for leaf in leaves(device) if isinstance(leaf, SameAs)]
    given = (Anchor.PARAMETER, Anchor.MODULE)
    return any(symbol.anchor in given and not symbol.name.endswith("device") for symbol in symbols)


def _draws(base: str) -> bool:
    known = sampling(base)
    return known is not None and known.inherits


def _made(value: Value) -> Step | None:
    provenance = provenance_of(value)
    return provenance.step if provenance is not None else None


def _bare_generator(value: Value) -> Step | None:
    """The `torch.Generator()` without a device that a value is."""
    if not isinstance(value, Instance) or value.type_name != GENERATOR:
        return None
    placed = dict(value.details).get("placed")
    step = _made(placed) if isinstance(placed, Tensor) else None
    return step if step is not None and step.bare and step.name == GENERATOR else None


def _default_draft(step: Step, draws: str, event: Created | Stored) -> Draft:
    return Draft(
        node=step.node,
        scope=step.scope,
        severity=Severity.WARNING,
        message=f"`torch.Generator()` is the CPU's, but {draws}; with a default device other than the CPU it raises",
        confidence=Confidence.MEDIUM,
        trace=(draft_step(step), DraftStep(event.node, event.scope, "drawn with here")),
        repair=Repair(Applicability.SUGGESTION, f"`{FOLLOWS_DEFAULT}`", _made_by_default(step)),
    )


def _message(event: DeviceMismatch) -> str:
    own, theirs = device_of(event.offending.value) or CPU, device_of(event.other.value) or CPU
    draws = f"`{event.operation.name}`"
    if event.offending.node is event.node:
        return f"{draws} draws on the default device, {describe(theirs)}, with a generator of the CPU; it raises"
    generator = quoted(event.offending.node, "the generator")
    condition = failure_condition(theirs)
    return f"{generator} belongs to {describe(own)} but {draws} draws on {describe(theirs)}; it raises{condition}"


def _confidence(event: DeviceMismatch, step: Step | None) -> Confidence:
    both = (*leaves(device_of(event.offending.value) or CPU), *leaves(device_of(event.other.value) or CPU))
    if all(isinstance(leaf, Known) for leaf in both):
        return Confidence.MEDIUM if event.scope.role is Role.TEST else Confidence.HIGH
    if event.scope.role is Role.TEST or event.scope.setting is Setting.HOST or event.callers_on_cpu:
        return Confidence.LOW
    if any(isinstance(leaf, SameAs) and leaf.symbol.anchor is Anchor.MODULE for leaf in both):
        return Confidence.HIGH
    on_cpu = device_of(event.offending.value) in (CPU, None)
    if event.other.role != "device" and on_cpu and step is not None and not step.bare:
        # A generator made on the CPU beside an argument: the function may well want that there too.
        return Confidence.LOW
    return Confidence.MEDIUM


def _trace(event: DeviceMismatch) -> tuple[DraftStep, ...]:
    operands: tuple[MismatchOperand, ...] = (event.offending, event.other)
    steps = [draft_step(step) for operand in operands for step in steps_of(operand) if step.node is not event.node]
    return (*steps, DraftStep(event.node, event.scope, "drawn here", describe(device_of(event.other.value) or CPU)))


def _made_by_default(step: Step) -> tuple[Change, ...]:
    import libcst as cst

    function = step.node.func if isinstance(step.node, cst.Call) else None
    if not isinstance(function, cst.Attribute):
        return ()
    return _made_for(step, f"{code_of(function.value)}.get_default_device()")


def _root(node: cst.BaseExpression) -> str:
    """The name that a call's function is reached from."""
    import libcst as cst

    while isinstance(node, (cst.Call, cst.Attribute)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else ""


def _made_for(step: Step, device: str) -> tuple[Change, ...]:
    """The generator with another device, where one was given or not."""
    import libcst as cst

    if step.name != GENERATOR or not isinstance(step.node, cst.Call):
        return ()
    first = next((argument for argument in step.node.args if argument.keyword is None and not argument.star), None)
    return (Replace(first.value, device),) if first is not None else (SetArgument(step.node, "device", device),)
