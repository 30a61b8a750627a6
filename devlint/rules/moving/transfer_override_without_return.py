"""A class's own `to`, `cuda` or `cpu` moves the object and does not hand it back.

## What it does

Finds classes that define `to`, `cuda` or `cpu` without returning anything: a Module's always, another class's where
its result is used.

## Why is this bad

`Module.to`, `Module.cuda` and `Module.cpu` return the module. Everybody writes `model = model.to(device)`; with such an
override `model` is None afterwards. Scripts that run on the CPU and skip the move work, the first run on an
accelerator raises "'NoneType' object is not callable".

## Example

```python
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(8, 2)
        self.table = torch.eye(2)

    def to(self, device):
        super().to(device)
        self.table = self.table.to(device)
```

## Use instead

```python
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(8, 2)
        self.table = torch.eye(2)

    def to(self, device):
        super().to(device)
        self.table = self.table.to(device)
        return self
```

## When it is right

- It returns something: `self`, what `super().to(...)` gave, a moved copy.
- It only raises, by itself or by a function that does nothing else, or has no body: an abstract method, a protocol.
- The class is no Module, and its transfer is only ever called as a statement: it moves in place and says so.
- A class of the project that it derives from, and that is no Module, moves in place already.
- Nothing is known of its bases: that it has a `forward` makes it no Module, and its `to` may keep a device alone. The
  confidence is low, unless a result is used, and medium where it has `parameters` as well.

## Fix safety

Safe: nobody can have used the None that came back.

## How a run confirms it

The method runs to its end and returns None.

## Known problems

A method that returns on some of its paths only is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.changes import ReturnAtEnd
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import NONE, Instance, Module
from devlint.placement.domain.events import Fate
from devlint.rules.naming.device_candidates import is_known_module
from devlint.rules.rule import Rule

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
    from devlint.placement.domain.events import CallRefused, ClassCompleted, Moved, Returned

OVERRIDES = ("to", "cuda", "cpu")


class TransferOverrideWithoutReturn(Rule):
    code = "DEV203"
    name = "transfer-override-without-return"
    severity = Severity.ERROR
    error_when_confirmed = True

    def __init__(self) -> None:
        self._returning: set[str] = set()
        """Definitions that hand something back."""
        self._raising: set[str] = set()
        """Definitions of which each call raises."""
        self._used: dict[tuple[int, str], Moved] = {}
        """By class and method: a transfer of an object that is no Module for sure, whose result is wanted."""

    def returned(self, event: Returned) -> Iterable[Draft]:
        if event.value != NONE:
            self._returning.add(event.scope.qualname)
        return ()

    def call_refused(self, event: CallRefused) -> Iterable[Draft]:
        self._raising.add(event.scope.qualname)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        info = event.receiver.info if isinstance(event.receiver, (Instance, Module)) else None
        if info is not None and event.fate == Fate.USED and not is_known_module(info):
            self._used.setdefault((id(info), event.method), event)
        return ()

    def class_completed(self, event: ClassCompleted) -> Iterable[Draft]:
        info = event.facts.info
        for name in OVERRIDES:
            method = info.methods.get(name)
            if method is None or not self._hands_nothing_back(method):
                continue
            used = self._used.get((id(info), name))
            if used is not None or (info.is_module and not _is_the_bases_way(info, name)):
                yield _draft(event, info, method, used)

    def _hands_nothing_back(self, method: FunctionInfo) -> bool:
        if method.qualname in self._returning | self._raising or method.is_generator or method.decorators:
            return False
        return _has_a_body(method)


def _is_the_bases_way(info: ClassInfo, name: str) -> bool:
    """Whether a base that is no Module moves in place and hands nothing back either: those who use it know that."""
    above = (base.methods[name] for base in info.order[1:] if name in base.methods and not base.is_module)
    return any(method.gives_none and _has_a_body(method) for method in above)


def _has_a_body(method: FunctionInfo) -> bool:
    """An abstract method promises a result without giving one, and one that raises never comes to it."""
    import libcst as cst

    from devlint.placement.syntax.nodes import body_of

    if not isinstance(method.node, cst.FunctionDef):
        return False
    statements = list(body_of(method.node.body))
    if isinstance(statements[-1], cst.Raise):
        return False
    return any(not _says_nothing(statement) for statement in statements)


def _says_nothing(statement: cst.CSTNode) -> bool:
    import libcst as cst

    if isinstance(statement, cst.Expr):
        return isinstance(statement.value, (cst.SimpleString, cst.ConcatenatedString, cst.Ellipsis))
    return isinstance(statement, cst.Pass)


def _confidence(info: ClassInfo, used: Moved | None) -> Confidence:
    """A class of an unknown base is taken for a Module by its `forward` alone (fixture `unknown_bases`)."""
    if used is not None or is_known_module(info):
        return Confidence.HIGH
    return Confidence.MEDIUM if info.defines(*_MORE_OF_MODULES) else Confidence.LOW


_MORE_OF_MODULES = ("parameters", "named_parameters")
"""Methods by which an object is used as a Module, whatever it derives from; others have a `state_dict` too."""


def _draft(event: ClassCompleted, info: ClassInfo, method: FunctionInfo, used: Moved | None) -> Draft:
    import libcst as cst

    assert isinstance(method.node, cst.FunctionDef)
    name = method.name
    if used is None:
        wanted = f"`model = model.{name}(...)` leaves None, as `Module.{name}` returns the module"
        trace: tuple[DraftStep, ...] = ()
    else:
        wanted = "and its result is used"
        trace = (DraftStep(used.node, used.scope, "this takes what comes back"),)
    joint = ": " if used is None else ", "
    return Draft(
        node=method.node.name,
        scope=event.scope,
        message=f"`{info.name}.{name}` does not return the object{joint}{wanted}",
        confidence=_confidence(info, used),
        trace=trace,
        repair=Repair(
            Applicability.SAFE,
            f"end it with `return {_self_of(method)}`",
            (ReturnAtEnd(method.node, _self_of(method)),),
        ),
    )


def _self_of(method: FunctionInfo) -> str:
    from devlint.placement.syntax.nodes import parameters_of

    parameters = parameters_of(method.node)
    return parameters[0].name.value if parameters else "self"
