"""A part is added to a module that was moved before, and stays on the CPU.

## What it does

Finds layers, parameters and buffers that are added to a module after its `.to(device)` in the same function. A
constructor that moves `self` before it adds anything is one finding, at the move. And what a module builds and keeps
when `forward` or a hook that Lightning calls with a batch runs, where another method calls it.

## Why is this bad

`Module.to` moves what the module has at that moment. What is added later is made on the CPU, and the first batch that
reaches it raises "Expected all tensors to be on the same device". On a CPU-only machine the order does not matter.

## Example

```python
import torch
from torch import nn


def finetuned(net: nn.Module, x: torch.Tensor, device: torch.device) -> torch.Tensor:
    net.to(device)
    net.head = nn.Linear(512, 10)
    return net(x.to(device))
```

## Use instead

```python
import torch
from torch import nn


def finetuned(net: nn.Module, x: torch.Tensor, device: torch.device) -> torch.Tensor:
    net.head = nn.Linear(512, 10)
    net.to(device)
    return net(x.to(device))
```

## When it is right

- The module is moved again afterwards, or the new part is moved or made where the module is.
- The part holds no parameter and no buffer: an activation, a loss, `nn.Identity()`.
- A device context or default decides where the part is made.
- The module is handed to something that may move it (a trainer, `accelerator.prepare`): the confidence is low.

## Fix safety

A suggestion: the part goes through the same move as its owner did. Adding it before that move would do as well. There
is no edit for a parameter or buffer whose tensor is not made on the spot, and none in the body of a module.

## How a run confirms it

`parameters()` and `buffers()` are on more than one device.

## Known problems

A function that only adds a part and leaves the move to its caller is right; it is warned about if it moves before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import suffixed
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step, provenance_of, trace_of
from devlint.drafts.wording import code_of, failing_code, operand_and_placement, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Kind, Module, Opaque, Self, Tensor, Value
from devlint.placement.domain.lattice import CPU, Decided, exclude
from devlint.placement.domain.provenance import Step, StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import dotted
from devlint.repairs.bound_names import expression_stays_bound
from devlint.rules.moving.moves_of_modules import METHODS, goes_to_cpu, is_part, mentions, moved_names
from devlint.rules.moving.parts_built_late import PartsBuiltLate
from devlint.rules.rule import Rule
from devlint.rules.waking import any_of

if TYPE_CHECKING:
    from devlint.drafts.changes import Change
    from devlint.placement.domain.events import Begun, Called, DeviceMismatch, Event, Moved, Stored
    from devlint.placement.domain.scope import Scope

ADDING = {".add_module": 1, ".register_module": 1, ".register_parameter": 1, ".register_buffer": 1, ".append": 0}
"""Methods that add a part, and the position of it."""


@dataclass(slots=True, eq=False)
class _Added:
    """A part on the CPU of a module that is elsewhere."""

    event: Event
    owner: str
    name: str
    made: Step
    move: Called
    arms: tuple[Decided, ...]
    used: DraftStep | None = None
    handed_on: bool = False
    changes: tuple[Change, ...] = ()


class SubmoduleAfterMove(Rule):
    code = "DEV206"
    name = "submodule-after-move"
    severity = Severity.ERROR
    claims_before = ("DEV104",)  # module-built-in-call
    wakes_at = any_of(stored=lambda event: event.scope.setting is Setting.FORWARD and isinstance(event.value, Module))

    def __init__(self) -> None:
        self._late = PartsBuiltLate()
        self._moved: dict[str, dict[str, Called]] = {}
        """By definition and name: the move that put the module on an accelerator."""
        self._added: dict[str, list[_Added]] = {}
        """By definition."""
        self._other_names: dict[tuple[str, str], list[str]] = {}
        """By definition and name: the modules, or parts of them, that it is another name of: ``net = model.module``."""
        self._transfers: dict[int, Moved] = {}
        self._calls: dict[int, Called] = {}
        self._begun: dict[Scope, Begun] = {}
        self._built: set[str] = set()
        """Constructors that have given `self` a part with state before they move it."""

    @staticmethod
    def wakes_at_call(name: str) -> bool:
        return name in METHODS

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._begun[event.scope] = event
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._transfers[id(event.node)] = event
        self._late.moved(event)
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        self._late.called(event)
        scope = event.scope.qualname
        transfer = self._transfers.get(id(event.node))
        names = moved_names(event, transfer)
        for name in names:
            self._forget(scope, name)
            if not goes_to_cpu(event, transfer):
                self._moved.setdefault(scope, {})[name] = event
        if names:
            self._calls[id(event.node)] = event
        elif event.name in ADDING:
            self._adds(event)
        self._uses(event)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._late.stored(event)
        scope, target = event.scope.qualname, event.target
        move = self._calls.get(id(event.value_node))
        if move is not None and isinstance(event.value, (Module, Opaque)):
            # `net = Net().to(device)`: known by this name from here on.
            self._moved.setdefault(scope, {})[target] = move
            return ()
        known = self._moved.get(scope) or self._added.get(scope)
        self._names(event)
        if known and event.value_node is not None and not mentions(event.value_node, target):
            self._forget(scope, target)
        owner = target.rsplit(".", 1)[0]
        if event.attribute is not None and owner != target:
            if not known and isinstance(event.owner, Self) and _may_hold_state(event.value):
                self._built.add(scope)
            self._add(event, owner, target, event.value, event.arms)
        return ()

    def _names(self, event: Stored) -> None:
        """``net = model.module``, in another arm ``net = model``: what is added to the one is part of both."""
        key = (event.scope.qualname, event.target)
        named = dotted(event.value_node) if event.value_node is not None else None
        if event.attribute is None and named is not None and named.partition(".")[0] in self._moved.get(key[0], {}):
            self._other_names.setdefault(key, []).append(named)
        else:
            self._other_names.pop(key, None)

    def _forget(self, scope: str, name: str) -> None:
        """Moved anew, or another object: what was added before needs no word."""
        self._moved[scope] = {known: m for known, m in self._moved.get(scope, {}).items() if not is_part(known, name)}
        if scope in self._added:
            self._added[scope] = [
                part for part in self._added[scope] if not (is_part(part.name, name) or is_part(part.owner, name))
            ]

    def _adds(self, event: Called) -> None:
        import libcst as cst

        function = event.call.node.func
        part = event.call.argument("module", ADDING[event.name])
        part = part or event.call.keyword("tensor") or event.call.keyword("param")
        if part is None or not isinstance(function, cst.Attribute):
            return
        if isinstance(event.receiver, (Module, Self)):
            owner = code_of(function.value)
            value = part.value
            if event.name == ".register_buffer" and isinstance(value, Tensor):
                value = replace(value, kind=Kind.BUFFER)
            self._add(event, owner, f"{owner}.{event.name}", value, event.arms)

    def _add(self, event: Event, owner: str, name: str, value: Value, arms: tuple[Decided, ...]) -> None:
        scope = event.scope.qualname
        known = self._moved.get(scope)
        step = _left_on_the_cpu(value) if known else None
        if not known or step is None or step.scope.qualname != scope:
            return
        owners = [owner, *self._other_names.get((scope, owner), ())]
        for moved, move in known.items():
            if any(is_part(one, moved) for one in owners) and not exclude(move.arms, arms):
                part = _Added(event, moved, name, step, move, arms)
                part.changes = self._moves_too(part, value)
                self._added.setdefault(scope, []).append(part)
                return

    def _moves_too(self, part: _Added, value: Value) -> tuple[Change, ...]:
        """The owner's move, behind what makes the part."""
        import libcst as cst

        begun = self._begun.get(part.event.scope)
        call = part.move.call.node
        if begun is None or not isinstance(begun.node, cst.FunctionDef) or not isinstance(call.func, cst.Attribute):
            return ()
        move = code_of(call).removeprefix(code_of(call.func.value))
        if not expression_stays_bound(f"x{move}", begun.node, call):
            return ()
        if isinstance(value, Tensor) and part.made.factory is None:
            # `nn.Parameter(t).to(d)` would be no parameter.
            return ()
        return suffixed(part.made.node, move)

    def _uses(self, event: Called) -> None:
        for part in self._added.get(event.scope.qualname, []):
            if exclude(part.arms, event.arms):
                continue
            callee = code_of(event.call.node.func)
            if callee in (part.owner, f"{part.owner}.forward") and part.used is None:
                part.used = DraftStep(event.node, event.scope, f"`{part.owner}` is called here")
            elif any(code_of(argument.node) == part.owner for argument in event.call.arguments):
                part.handed_on = True

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        for mine in (event.offending, event.other):
            step = _made(mine.value)
            for parts in self._added.values():
                for part in parts:
                    if step is not None and part.made.node is step.node:
                        part.used = DraftStep(event.node, event.scope, "they meet here")
                        part.handed_on = False
                        if self._is_premature(part):
                            yield _premature(parts)
                            return
                        consequence = f"{operand_and_placement(mine)}; {failing_code(event)} fails"
                        yield _draft(part, consequence, (*_before(part), *trace_of(event)))
                        return

    def finish(self) -> Iterable[Draft]:
        yield from self._late.drafts()
        for added in self._added.values():
            parts = [part for part in added if not self._is_premature(part)]
            if len(parts) < len(added):
                yield _premature([part for part in added if part not in parts])
            for part in parts:
                used = (part.used,) if part.used is not None else ()
                yield _draft(part, "so it stays on the CPU", (*_before(part), draft_step(part.made), *used))

    def _is_premature(self, part: _Added) -> bool:
        """Whether a constructor moves `self` before there is anything to move: the move is in the wrong place."""
        scope = part.event.scope
        constructs = scope.class_name is not None and scope.qualname == f"{scope.class_name}.__init__"
        return constructs and part.owner == "self" and scope.qualname not in self._built


def _may_hold_state(value: Value) -> bool:
    if isinstance(value, Module):
        return not value.stateless
    return isinstance(value, Tensor) and value.kind in (Kind.PARAMETER, Kind.BUFFER)


def _premature(parts: list[_Added]) -> Draft:
    """One finding for all parts: they come after one move, and one repair serves them."""
    first, move = parts[0], parts[0].move
    used = next((part.used for part in parts if part.used is not None), None)
    more = f" and {len(parts) - 1} more" if len(parts) > 1 else ""
    stays = "stays" if len(parts) == 1 else "stay"
    made = tuple(draft_step(part.made) for part in parts[:3])
    return Draft(
        node=move.node,
        scope=move.scope,
        severity=None if used is not None else Severity.WARNING,
        message=f"{quoted(move.call.node, '`self`')} comes before there is anything to move: "
        f"{_name(first)}{more} {stays} on the CPU",
        confidence=Confidence.HIGH if used is not None else Confidence.MEDIUM,
        trace=(*_before(first), *made, *((used,) if used is not None else ())),
        repair=Repair(Applicability.SUGGESTION, "move `self` at the end of the constructor"),
    )


def _made(value: Value) -> Step | None:
    provenance = provenance_of(value)
    return provenance.find(StepKind.MADE, StepKind.MOVED) if provenance is not None else None


def _left_on_the_cpu(value: Value) -> Step | None:
    """Where a part with state was made without a device; None for anything else."""
    step = _made(value)
    if step is None or step.kind is not StepKind.MADE or getattr(value, "device", None) != CPU:
        return None
    if isinstance(value, Module):
        return step if value.holds_state else None
    if isinstance(value, Tensor) and value.kind in (Kind.PARAMETER, Kind.BUFFER):
        return step if step.bare else None
    return None


def _before(part: _Added) -> tuple[DraftStep, ...]:
    return (DraftStep(part.move.node, part.move.scope, f"`{part.owner}` is moved here"),)


def _draft(part: _Added, consequence: str, trace: tuple[DraftStep, ...]) -> Draft:
    confidence = Confidence.HIGH if part.used is not None else Confidence.MEDIUM
    return Draft(
        node=part.event.node,
        scope=part.event.scope,
        severity=None if part.used is not None else Severity.WARNING,
        message=f"{_name(part)} is added after `{part.owner}` was moved; {consequence}"
        + (f" and `{part.owner}` fails on an accelerator" if part.used is not None and consequence[:2] == "so" else ""),
        confidence=Confidence.LOW if part.handed_on else confidence,
        trace=trace,
        repair=Repair(
            Applicability.SUGGESTION, f"move it as well, or add it before `{part.owner}` is moved", part.changes
        ),
    )


def _name(part: _Added) -> str:
    return f"`{part.name}`" if "(" not in part.name and ".." not in part.name else "a part"
