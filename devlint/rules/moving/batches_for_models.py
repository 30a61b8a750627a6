"""Batches as a loader hands them out, for a model that a caller placed: part of DEV208."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step, provenance_of, steps_of
from devlint.drafts.wording import code_of, describe_operand
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.evidence_conventions import COLLATED, CONVENTIONS
from devlint.placement.domain.lattice import CPU, batch_of
from devlint.placement.domain.scope import Setting
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import Called, CallersModuleCalled, Created, Moved
    from devlint.placement.domain.scope import Scope

_PREPARES = ("prepare", "setup_dataloaders", "to_device", "move_data")
"""Words in the names of what makes a loader bring its batches over, or brings them."""


@dataclass(slots=True)
class BatchesForModels:
    """The calls of models that came in with what a loader handed out, in one file."""

    _drafts: list[tuple[str, Draft]] = field(default_factory=list)
    """With the last part of the model's name."""
    _moved: set[str] = field(default_factory=set)
    """The last parts of the names of whatever the file moves."""
    _prepares: bool = False
    _places: set[str] = field(default_factory=set)
    """Functions and classes that put something elsewhere than on the CPU: they are written for accelerators."""

    def moved(self, event: Moved) -> None:
        self._moved.add(event.receiver_text.rpartition(".")[2])
        if event.moves and event.target != CPU:
            self._places.add(_outermost(event.scope))

    def created(self, event: Created) -> None:
        if event.named is not None:
            self._places.add(_outermost(event.scope))

    def called(self, event: Called) -> None:
        self._prepares = self._prepares or any(word in event.name for word in _PREPARES)

    def model_called(self, event: CallersModuleCalled) -> None:
        scope, first = event.scope, event.inputs[0]
        batch = batch_of(getattr(first.value, "device", None))
        if batch is None or scope.setting in (Setting.MODULE_LEVEL, Setting.HOST):
            return
        name = code_of(event.module.node)
        came_in = provenance_of(event.module.value)
        steps = [draft_step(step) for step in (*steps_of(first), *((came_in.first,) if came_in is not None else ()))]
        steps[0] = DraftStep(steps[0].node, steps[0].scope, f"{steps[0].message}; {CONVENTIONS[COLLATED]}")
        draft = Draft(
            node=first.node,
            scope=scope,
            severity=Severity.WARNING,
            message=f"{describe_operand(first)} comes with a batch of `{batch.source}` and is not moved, but "
            f"`{name}` comes from the caller; `{name}` fails when it is on an accelerator",
            confidence=Confidence.MEDIUM if scope.role is Role.LIBRARY else Confidence.LOW,
            trace=(*steps, DraftStep(event.node, scope, "they meet here")),
            repair=Repair(Applicability.SUGGESTION, f"bring it over: `.to(next({name}.parameters()).device)`"),
        )
        self._drafts.append((name.rpartition(".")[2], draft))

    def finish(self) -> Iterator[Draft]:
        seen: set[tuple[str, str]] = set()
        for model, draft in self._drafts:
            key = (draft.scope.qualname, code_of(draft.node))
            if not self._prepares and model not in self._moved and key not in seen:
                seen.add(key)
                placed = _outermost(draft.scope) in self._places
                yield draft if placed else replace(draft, confidence=Confidence.LOW)


def _outermost(scope: Scope) -> str:
    return scope.qualname.partition(".")[0]
