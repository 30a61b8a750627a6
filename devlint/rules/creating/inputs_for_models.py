"""Inputs that are made on the CPU for a model that a caller placed: part of DEV101."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import suffixed
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step, provenance_of, result_brought_back, steps_of
from devlint.drafts.wording import code_of, describe_operand
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.operations.encoded import is_encoded
from devlint.repairs.device_expressions import Definitions
from devlint.rules.creating.left_to_defaults import LeftToDefaults
from devlint.rules.creating.shape_probes import is_shape_probe
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.events import CallersModuleCalled, Moved
    from devlint.placement.domain.provenance import Step
    from devlint.placement.domain.scope import Scope


@dataclass(slots=True)
class InputsForModels:
    """The calls of models that came in with what was made on the CPU, in one file."""

    definitions: Definitions
    left_to_defaults: LeftToDefaults
    _drafts: list[tuple[CallersModuleCalled, Draft]] = field(default_factory=list)
    _brought_back: list[Moved] = field(default_factory=list)
    _moved: set[str] = field(default_factory=set)
    """The last parts of the names of whatever the file moves: a model that is brought somewhere is used there."""
    _parts: set[tuple[str, str]] = field(default_factory=set)
    """By definition: names of which a part was moved."""

    def moved(self, event: Moved) -> None:
        self._moved.add(event.receiver_text.rpartition(".")[2])
        self._parts.add((event.scope.qualname, re.split(r"[.\[]", event.receiver_text, maxsplit=1)[0]))
        if event.target == CPU:
            self._brought_back.append(event)

    def called(self, event: CallersModuleCalled) -> None:
        if not event.inputs:
            return
        scope, first = event.scope, event.inputs[0]
        step = self.left_to_defaults.creation_of(first.value) or _encoding_of(first.value)
        if step is None or getattr(first.value, "device", None) != CPU:
            return
        if is_encoded(first.value) and (scope.qualname, code_of(first.node)) in self._parts:
            return  # `encoded["ids"] = encoded["ids"].to(device)`, one after the other
        if scope.setting in (Setting.MODULE_LEVEL, Setting.CONSTRUCTION, Setting.HOST):
            return
        name = code_of(event.module.node)
        # A helper may make it: `model(sample_input(sizes)).shape`.
        ways = (one for one in provenance_of(first.value) or () if one is step or one.kind is StepKind.RETURNED)
        probes = any(is_shape_probe(self.definitions.node_of(way.scope), way.node) for way in ways)
        doubtful = scope.role is not Role.LIBRARY or probes
        came_in = provenance_of(event.module.value)
        steps = (*steps_of(first), *((came_in.first,) if came_in is not None else ()))
        draft = Draft(
            node=step.node,
            scope=step.scope,
            severity=Severity.WARNING,
            message=f"{describe_operand(first)} is created on the CPU but `{name}` comes from the caller; "
            f"`{name}` fails when it is on an accelerator",
            confidence=Confidence.LOW if doubtful else Confidence.MEDIUM,
            trace=(*map(draft_step, steps), DraftStep(event.node, scope, "they meet here")),
            repair=_repair(step, f"next({name}.parameters()).device", is_encoding=is_encoded(first.value), scope=scope),
        )
        draft = self.left_to_defaults.at_the_call(draft, first, event.module, scope)
        self._drafts.append((event, draft))

    def finish(self) -> Iterator[Draft]:
        seen: set[int] = set()
        for call, draft in self._drafts:
            model = code_of(call.module.node).rpartition(".")[2]
            if model not in self._moved and id(draft.node) not in seen:
                seen.add(id(draft.node))
                yield self._if_brought_back(call, draft)

    def _if_brought_back(self, call: CallersModuleCalled, draft: Draft) -> Draft:
        """A script that brings the result to the CPU has a model that may be elsewhere."""
        if draft.confidence is not Confidence.LOW or call.scope.role is not Role.SCRIPT:
            return draft
        step = result_brought_back(call.node, self._brought_back)
        return replace(draft, confidence=Confidence.MEDIUM, trace=(*draft.trace, step)) if step is not None else draft


def _repair(step: Step, device: str, *, is_encoding: bool, scope: Scope) -> Repair:
    """An encoding is moved as a whole, where it is made; what a factory makes it can make there."""
    if not is_encoding:
        return Repair(Applicability.SUGGESTION, f"create it on `{device}`")
    changes = suffixed(step.node, f".to({device})") if step.scope == scope else ()
    return Repair(Applicability.SUGGESTION, f"move it: `.to({device})`", changes)


def _encoding_of(value: Value) -> Step | None:
    """The call of a tokenizer that made a value, or its items: it has no say about the device."""
    provenance = provenance_of(value)
    return provenance.first if provenance is not None and is_encoded(value) else None
