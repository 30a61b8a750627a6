"""An optimizer is built before its model is moved.

## What it does

Finds models that are moved after their optimizer was built. It is an error where the optimizer has state by then:
Adagrad makes it in its constructor, the others by their first step or from a checkpoint. Else it is a note.

## Why is this bad

`Module.to` puts the parameters elsewhere and knows nothing of the optimizer. State that exists already stays on the
CPU, and the next `step()` raises "Expected all tensors to be on the same device". Without state the order does no harm
today; PyTorch asks for the move first, since a move may replace the parameters.

## Example

```python
import torch
from torch import nn


def prepare(device: torch.device):
    net = nn.Linear(8, 2)
    optimizer = torch.optim.Adagrad(net.parameters(), lr=0.1)
    net.to(device)
    return net, optimizer
```

## Use instead

```python
import torch
from torch import nn


def prepare(device: torch.device):
    net = nn.Linear(8, 2)
    net.to(device)
    optimizer = torch.optim.Adagrad(net.parameters(), lr=0.1)
    return net, optimizer
```

## When it is right

- SGD without momentum keeps no state.
- The model was there before the optimizer was built, and only comes back after a visit to the CPU.
- The name holds another model by then.
- The function goes through the optimizer's state and moves it as well: `optimizer.state.values()`, `optimizer_to(...)`.

## Fix safety

A suggestion: the statement that moves goes before the one that builds the optimizer. A checkpoint is then loaded into
state beside its parameters. There is no edit where the model is used in between, since its inputs would have to move as
well, where the two stand in different blocks, and where what names the device is not there yet.

## How a run confirms it

After the move an optimizer's state and its parameter are on different devices.

## Known problems

Only one function at a time is looked at: an optimizer built in one method and a model moved in another are not seen.
Of the methods that it calls on `self` only a loaded state is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.changes import MoveBefore
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Constant, Module
from devlint.placement.domain.lattice import CPU, Decided, exclude
from devlint.repairs.bound_names import expression_stays_bound, path_to
from devlint.rules.moving.moves_of_modules import goes_to_cpu, is_part, mentions, moved_names
from devlint.rules.moving.state_of_optimizers import loads_by_method, moves_state
from devlint.rules.rule import Rule
from devlint.semantics.optimizing import OptimizerInfo, optimizer

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.placement.domain.call_site import CallSite
    from devlint.placement.domain.events import Begun, Called, Moved, Stored
    from devlint.placement.domain.scope import Scope

REPAIR = "move the model first, then build the optimizer"


@dataclass(slots=True, eq=False)
class _Built:
    """An optimizer whose models have not been moved since."""

    event: Called
    info: OptimizerInfo
    models: frozenset[str]
    name: str = ""
    filled: Called | None = None
    """What gave it state since it was built."""
    arms: tuple[Decided, ...] = field(default=())


class OptimizerBeforeMove(Rule):
    code = "DEV207"
    name = "optimizer-before-move"
    severity = Severity.ERROR

    def __init__(self) -> None:
        self._built: dict[str, list[_Built]] = {}
        """By definition: the optimizers to watch."""
        self._bound: dict[str, list[tuple[str, cst.BaseExpression]]] = {}
        """By definition: what its names were bound to, in that order."""
        self._placed: set[tuple[str, str]] = set()
        """Definitions and the models that were moved to an accelerator there."""
        self._moves: dict[int, Moved] = {}
        self._begun: dict[Scope, Begun] = {}

    @staticmethod
    def wakes_at_call(name: str) -> bool:
        return optimizer(name) is not None

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._begun[event.scope] = event
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._moves[id(event.node)] = event
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        scope, target = event.scope.qualname, event.target
        for built in self._built.get(scope, []):
            if event.value_node is built.event.call.node:
                built.name = target
        if event.value_node is not None and event.value_node is not self._last_call(scope):
            self._forget(scope, target, event.value_node)
        if event.value_node is not None:
            self._bound.setdefault(scope, []).append((target, event.value_node))
        return ()

    def _last_call(self, scope: str) -> cst.Call | None:
        built = self._built.get(scope)
        return built[-1].event.call.node if built else None

    def _forget(self, scope: str, target: str, value: cst.BaseExpression) -> None:
        """The name holds something else from here on, unless that is made of what it held."""
        if scope not in self._built and (scope, target) not in self._placed:
            return
        if mentions(value, target):
            return
        self._placed.discard((scope, target))
        self._built[scope] = [
            built
            for built in self._built.get(scope, [])
            if not any(is_part(model, target) for model in built.models) and built.name != target
        ]

    def _known(self, scope: str) -> dict[str, frozenset[str]]:
        """Whose parameters the local names hold. Few definitions build an optimizer, so only these are gone through."""
        known: dict[str, frozenset[str]] = {}
        for name, value in self._bound.get(scope, ()):
            known[name] = _models(value, known) or known.get(name, frozenset())
        return known

    def called(self, event: Called) -> Iterable[Draft]:
        scope = event.scope.qualname
        info = optimizer(event.name)
        if info is not None:
            self._note(event, info)
            return
        if event.name in (".step", ".load_state_dict"):
            self._fill(event)
            return
        if event.scope.qualname in self._built:
            self._fill_by_method(event)
        for name in moved_names(event, self._moves.get(id(event.node))):
            if goes_to_cpu(event, self._moves.get(id(event.node))):
                self._placed.discard((scope, name))
                self._built[scope] = [b for b in self._built.get(scope, []) if not _has(b, name)]
                continue
            self._placed.add((scope, name))
            watched = [b for b in self._built.get(scope, []) if _has(b, name) and not exclude(b.arms, event.arms)]
            self._built[scope] = [b for b in self._built.get(scope, []) if b not in watched]
            for built in watched:
                yield from self._judged(built, event, name)

    def _note(self, event: Called, info: OptimizerInfo) -> None:
        scope = event.scope.qualname
        parameters = event.call.argument("params", 0)
        models = _models(parameters.node, self._known(scope)) if parameters is not None else frozenset()
        there = any(is_part(model, placed) for model in models for where, placed in self._placed if where == scope)
        if models and not there and not _stateless(info, event.call):
            self._built.setdefault(scope, []).append(_Built(event, info, models, arms=event.arms))

    def _fill(self, event: Called) -> None:
        import libcst as cst

        function = event.call.node.func
        for built in self._built.get(event.scope.qualname, []):
            if built.name and isinstance(function, cst.Attribute) and code_of(function.value) == built.name:
                stepped = built.filled is not None and built.filled.name == ".step"
                built.filled = built.filled if stepped else event

    def _fill_by_method(self, event: Called) -> None:
        """``self.resume(path)``, which loads the state of ``self.optimizer``."""
        begun = self._begun.get(event.scope)
        if begun is None or begun.owner is None:
            return
        for built in self._built[event.scope.qualname]:
            if built.filled is None and loads_by_method(event, begun.owner, built.name, built.models):
                built.filled = event

    def _judged(self, built: _Built, move: Called, model: str) -> Iterable[Draft]:
        moved = self._moves.get(id(move.node))
        receiver = moved.receiver if moved is not None else None
        on_cpu = isinstance(receiver, Module) and receiver.device == CPU
        if isinstance(receiver, Module) and not on_cpu and receiver.device == (moved.target if moved else None):
            return
        begun = self._begun.get(built.event.scope)
        if built.filled is not None and built.name and begun is not None and moves_state(begun.node, built.name):
            return
        changes = self._earlier(built, move)
        yield _draft(built, move, model, Confidence.HIGH if on_cpu else Confidence.MEDIUM, changes)

    def _earlier(self, built: _Built, move: Called) -> tuple[Change, ...]:
        """The move put before the optimizer, where nothing between needs the model where it is."""
        import libcst as cst

        begun = self._begun.get(built.event.scope)
        function = begun.node if begun is not None else None
        if not isinstance(function, cst.FunctionDef) or move.scope != built.event.scope:
            return ()
        between = _between(function, built.event.node, move.node)
        if between is None or any(mentions(node, model) for node in between for model in built.models):
            return ()
        given = ", ".join(code_of(argument.value) for argument in move.call.node.args)
        if given and not expression_stays_bound(f"({given},)", function, built.event.node):
            return ()
        return (MoveBefore(move.node, built.event.node),)


def _between(function: cst.FunctionDef, first: cst.CSTNode, second: cst.CSTNode) -> list[cst.CSTNode] | None:
    """The statements between those of two nodes; None where they are not in one block."""
    import libcst as cst

    paths = path_to(function, first), path_to(function, second)
    block = next((node for node in reversed(paths[0]) if isinstance(node, cst.IndentedBlock)), None)
    if block is None or not any(node is block for node in paths[1]):
        return None
    places = [next(i for i, line in enumerate(block.body) if any(line is node for node in path)) for path in paths]
    return list(block.body[places[0] + 1 : places[1]])


def _draft(built: _Built, move: Called, model: str, confidence: Confidence, changes: tuple[Change, ...]) -> Draft:
    name = built.info.name.rsplit(".", 1)[-1]
    made = DraftStep(built.event.node, built.event.scope, "the optimizer is built here")
    after = DraftStep(move.node, move.scope, f"`{model}` is moved here")
    trace: tuple[DraftStep, ...] = (made, after)
    severity = None
    if built.info.state == "constructor":
        consequence = f"{name} makes its state when it is built, so that stays on the CPU and `step()` fails"
    elif built.filled is not None and not exclude(built.filled.arms, move.arms):
        how = "a step" if built.filled.name == ".step" else "a checkpoint"
        consequence = f"its state came into being by {how} before, so that stays on the CPU and the next `step()` fails"
        trace = (made, DraftStep(built.filled.node, built.filled.scope, "its state is made here"), after)
        if how == "a checkpoint":
            confidence = Confidence.MEDIUM
    else:
        severity = Severity.NOTE
        consequence = "PyTorch asks for the move first, since a move may replace the parameters"
    called = quoted(built.event.call.node.func, "the optimizer")
    return Draft(
        node=built.event.node,
        scope=built.event.scope,
        message=f"{called} is built before `{model}` is moved; {consequence}",
        confidence=confidence,
        severity=severity,
        trace=trace,
        repair=Repair(Applicability.SUGGESTION, REPAIR, changes),
    )


def _has(built: _Built, moved: str) -> bool:
    return any(is_part(model, moved) for model in built.models)


def _stateless(info: OptimizerInfo, call: CallSite) -> bool:
    if info.state != "momentum":
        return False
    momentum = call.argument("momentum", info.momentum_position)
    if momentum is None:
        return True
    return isinstance(momentum.value, Constant) and momentum.value.value == 0


def _models(node: cst.BaseExpression, known: dict[str, frozenset[str]]) -> frozenset[str]:
    """Whose parameters an expression hands over: the receivers of `.parameters()`, through local names."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    found: set[str] = set()
    for child in descend(node):
        if type(child) is cst.Name:
            found |= known.get(child.value, frozenset())
        elif type(child) is cst.Call and isinstance(child.func, cst.Attribute) and _gives_parameters(child.func):
            found.add(code_of(child.func.value))
    return frozenset(found)


def _gives_parameters(function: cst.Attribute) -> bool:
    return function.attr.value in ("parameters", "named_parameters")
