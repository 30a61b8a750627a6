"""A library chooses a device while it is imported, or needs an accelerator to be imported at all.

## What it does

Finds devices that a module picks at its top level, in a class body or in a default argument
(`DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")`) and that its functions then use. And calls of
what raises without an accelerator, `STREAM = torch.cuda.Stream()`, that stand there under no test and in no `try`.

## Why is this bad

The choice is made once, before the program that imports the module has said anything: before it parsed its arguments,
set `CUDA_VISIBLE_DEVICES` or called `torch.cuda.set_device`, and before a worker process was forked. Callers that
keep their tensors elsewhere, on the CPU or on `cuda:1`, clash with it, and asking CUDA at import may itself set it up
in the wrong process. What raises without an accelerator keeps everybody from importing the module who has none.

## Example

```python
import torch

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def one_hot(labels: torch.Tensor, classes: int) -> torch.Tensor:
    return torch.eye(classes, device=DEVICE)[labels]
```

## Use instead

```python
import torch


def one_hot(labels: torch.Tensor, classes: int) -> torch.Tensor:
    return torch.eye(classes, device=labels.device)[labels]
```

## When it is right

- A plain flag: `HAS_CUDA = torch.cuda.is_available()`.
- Scripts, notebooks, tests and benchmarks: they are where a device is chosen.
- The name is rebound with `global` by a function of the module: the choice is only a start.
- Only the CPU, or `meta`, is named.
- The constant of a class that is named for the accelerator: `class DeviceHPU` has `torch.device("hpu")`.
- The choice is made in a function, when it is called.
- A device that no function of the file puts anything on, and on which no tensor of the module is that one of them
  reads: low. Other files may.
- The functions and classes that use it are given no tensor and no module, and give none back: arrays in, arrays out.
  Low.
- A choice or a constant that is only the default of parameters: low. The caller may say another device.
- A file that is made for accelerators and need not be imported elsewhere: it imports Triton or its kin, is named for
  CUDA, or is of a package in which nobody asks whether there is one.

## Fix safety

A suggestion: a default argument becomes `None` and is chosen in the body, when the function is called. For a name of
the module there is no edit: whether its functions should follow a tensor at hand or take a device is a matter of what
they promise, and other files may import the name.

## How a run confirms it

The module is imported in a process without an accelerator, or with `cuda:1` current; what its functions make is
compared with what they are given.

## Known problems

A configuration module whose devices other files import is reported at confidence low only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.changes import ChooseInBody
from devlint.drafts.draft import Draft, DraftStep, Premise, Repair
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import DeviceName, Module, Opaque, Tensor, innermost_of
from devlint.placement.domain.lattice import CPU, Known, leaves
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.rules.rule import Rule
from devlint.rules.waking import always, any_of
from devlint.semantics import raises_without
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.events import (
        Begun,
        Called,
        Created,
        Defaulted,
        GlobalRead,
        Loaded,
        Moved,
        Returned,
        Stored,
    )
    from devlint.placement.domain.scope import Scope


MOST_STEPS = 3
"""Tensors of the module that are shown where a definition reads them."""

DEVICE_ARGUMENTS = frozenset({"device", "map_location", "output_device", "torch_device"})


@dataclass(slots=True)
class _Choice:
    node: cst.CSTNode
    scope: Scope
    reads: list[tuple[cst.CSTNode, Scope]] = field(default_factory=list)
    tables: list[tuple[cst.CSTNode, Scope, str]] = field(default_factory=list)
    """Where definitions read the tensors of the module that the choice places, and their names."""


class DeviceChosenAtImport(Rule):
    code = "DEV306"
    name = "device-chosen-at-import"
    severity = Severity.WARNING
    wakes_at = any_of(defaulted=always, stored=lambda event: _at_import(event.scope) and _is_choice(event.value))

    def __init__(self) -> None:
        self._choices: dict[tuple[bool, str], _Choice] = {}
        """By whether it is a class's own, and by name."""
        self._placing: set[int] = set()
        """Expressions that say where something goes."""
        self._placed: dict[int, str] = {}
        """By the identity of what places a tensor at import: the name of the device."""
        self._tables: dict[str, str] = {}
        """The tensors of the module that are placed so, by name."""
        self._shared: set[str] = set()
        """Classes and functions that share tensors with their callers: these may be elsewhere."""

    @staticmethod
    def wakes_at_call(name: str) -> bool:
        return raises_without(name) is not None

    def stored(self, event: Stored) -> Iterable[Draft]:
        """`DEVICE = ...` at the top level or in a class body; the first choice of a name is where the repair goes."""
        # A name of its own for the device puts nothing there yet.
        if event.value_node is not None and event.scope.qualname and event.owner is not None:
            self._placing.add(id(event.value_node))
            if isinstance(event.value, DeviceName):
                self._shared.add(_whole(event.scope))  # whoever has the object may read it
        if _at_import(event.scope) and not event.of_class and id(event.value_node) in self._placed:
            self._tables[event.target] = self._placed[id(event.value_node)]
        if _at_import(event.scope) and event.owner is None and _is_choice(event.value):
            probed = isinstance(event.value, DeviceName) and event.value.chosen_by_probe
            if probed or not is_named_for_accelerator(event.of_class):
                self._choices.setdefault((bool(event.of_class), event.target), _Choice(event.node, event.scope))
        return ()

    def defaulted(self, event: Defaulted) -> Iterable[Draft]:
        import libcst as cst

        if not _at_import(event.scope) or not _is_choice(event.value):
            return
        if isinstance(event.node, cst.Name):
            # A constant of the module, which is told of where it is chosen, and as the default only at confidence low.
            return
        yield Draft(
            node=event.node,
            scope=event.scope,
            message=f"the default of `{event.parameter}` is chosen once, when the module is imported, and not when the "
            "function is called",
            # Who minds hands a device over, and whether there is an accelerator seldom changes after the import: of
            # five such findings two were true.
            confidence=Confidence.LOW,
            repair=Repair(
                Applicability.SUGGESTION,
                "default to `None` and choose in the body, from a tensor at hand",
                (ChooseInBody(event.node),),
            ),
        )

    def global_read(self, event: GlobalRead) -> Iterable[Draft]:
        if event.imported:
            return ()
        self._read((False, event.name), event.node, event.scope)
        choice = self._choices.get((False, self._tables.get(event.name, "")))
        if choice is not None:
            choice.tables.append((event.node, event.scope, event.name))
        return ()

    def begun(self, event: Begun) -> Iterable[Draft]:
        if any(_is_placed(value) for _, value in event.arguments):
            self._shared.add(_whole(event.scope))
        return ()

    def returned(self, event: Returned) -> Iterable[Draft]:
        handed_out = tuple(innermost_of(event.value))
        if any(map(_is_placed, handed_out)) or any(isinstance(one, Opaque) for one in handed_out):
            self._shared.add(_whole(event.scope))
        return ()

    def created(self, event: Created) -> Iterable[Draft]:
        self._place(event)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._place(event)
        return ()

    def _place(self, event: Created | Moved) -> None:
        if event.named is not None:
            self._placing.add(id(event.named.node))
            if _at_import(event.scope):
                self._placed[id(event.node)] = code_of(event.named.node)

    def called(self, event: Called) -> Iterable[Draft]:
        """Handed on as a device; what else is done with it, a comparison for one, puts nothing anywhere."""
        kind = raises_without(event.name) if _at_import(event.scope) and not (event.guarded or event.arms) else None
        if kind is not None:
            yield Draft(
                node=event.node,
                scope=event.scope,
                message=f"`{event.name}` is called while the module is imported, and raises where there is no {kind}",
                confidence=Confidence.MEDIUM,
                repair=Repair(Applicability.SUGGESTION, "call it where it is used, on the device that is used there"),
                premise=Premise.ASKS,
            )
        for argument in event.call.arguments:
            if argument.keyword in DEVICE_ARGUMENTS or event.name == "torch.device":
                self._placing.add(id(argument.node))

    def loaded(self, event: Loaded) -> Iterable[Draft]:
        """`self.device`, where that is the class's own and no instance's."""
        if not isinstance(event.value, DeviceName):
            self._read((True, event.attribute), event.node, event.scope)
        return ()

    def _read(self, key: tuple[bool, str], node: cst.CSTNode, scope: Scope) -> None:
        choice = self._choices.get(key)
        if choice is not None:
            choice.reads.append((node, scope))

    def _meets_callers(self, read: tuple[cst.CSTNode, Scope]) -> bool:
        """Whether what is put there meets what a caller has: arrays in and out meet nothing (fixture `arrays`)."""
        return id(read[0]) in self._placing and _whole(read[1]) in self._shared

    def finish(self) -> Iterable[Draft]:
        for (_, name), choice in self._choices.items():
            used = next((read for read in choice.reads if id(read[0]) in self._placing), None)
            where = f"`{used[1].qualname}` uses it" if used and used[1].qualname else "the functions here use it"
            if used is None and choice.tables:
                _, scope, table = choice.tables[0]
                where = f"`{scope.qualname}` uses `{table}`, which is there,"
            met = bool(choice.tables) or any(self._meets_callers(read) for read in choice.reads)
            steps = [DraftStep(used[0], used[1], "used here")] if used else []
            for node, scope, table in _first_reads(choice):
                steps.append(DraftStep(node, scope, f"`{table}` is read here, and is there"))
            yield Draft(
                node=choice.node,
                scope=choice.scope,
                message=f"`{name}` is a device chosen while the module is imported"
                + (f"; {where} whatever device its caller works on" if steps else ""),
                confidence=Confidence.MEDIUM if steps and met else Confidence.LOW,
                trace=tuple(steps),
                repair=Repair(
                    Applicability.SUGGESTION, "use the device of a tensor or module at hand, or take it as an argument"
                ),
            )


def _whole(scope: Scope) -> str:
    """The class of a method, whose methods share what the object holds; else the function."""
    return scope.class_name or scope.qualname


def _is_placed(value: Value) -> bool:
    """A tensor or a module, or something that holds them, which is not on the CPU for sure."""
    if isinstance(value, Opaque) and not value.tensorlike:
        return False
    return isinstance(value, (Tensor, Module, Opaque)) and value.device != CPU


def _first_reads(choice: _Choice) -> Iterable[tuple[cst.CSTNode, Scope, str]]:
    """Of each definition and tensor the first read, a few in all."""
    first: dict[tuple[str, str], tuple[cst.CSTNode, Scope, str]] = {}
    for read in choice.tables:
        first.setdefault((read[1].qualname, read[2]), read)
    return list(first.values())[:MOST_STEPS]


def _at_import(scope: Scope) -> bool:
    return scope.role is Role.LIBRARY and scope.setting is Setting.MODULE_LEVEL and not scope.qualname


def _is_choice(value: object) -> bool:
    """An accelerator, on some arm at least; no flag, and no `.type` of a device."""
    if not isinstance(value, DeviceName) or value.is_type or value.of_tensor:
        return False
    return any(isinstance(leaf, Known) and leaf.type not in ("cpu", "meta") for leaf in leaves(value.device))
