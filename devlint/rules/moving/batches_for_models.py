"""Batches as a loader hands them out, for a model that a caller placed: part of DEV208."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Premise, Repair
from devlint.drafts.trace import draft_step, provenance_of, result_brought_back, steps_of
from devlint.drafts.wording import code_of, describe_operand
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.calls.module_wrappers import WRAPPERS
from devlint.placement.declarations.brought_over import is_brought_over
from devlint.placement.declarations.evidence_conventions import COLLATED, CONVENTIONS
from devlint.placement.domain.abstract_values import Module, Opaque
from devlint.placement.domain.events import Fate
from devlint.placement.domain.lattice import CPU, batch_of, describe
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import dotted, parameters_of
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Called, CallersModuleCalled, Created, MismatchOperand, Moved
    from devlint.placement.domain.lattice import Symbol
    from devlint.placement.domain.scope import Scope

_PREPARES = ("prepare", "setup_dataloaders", "to_device", "move_data")
"""Words in the names of what makes a loader bring its batches over, or brings them."""


@dataclass(slots=True)
class BatchesForModels:
    """The calls of models that came in with what a loader handed out, in one file."""

    _drafts: list[tuple[CallersModuleCalled, str, Draft]] = field(default_factory=list)
    """With the key of the batch."""
    _moved: set[str] = field(default_factory=set)
    """The last parts of the names of whatever the file moves."""
    _brought: dict[tuple[str, str], tuple[str, Module | Opaque]] = field(default_factory=dict)
    """By definition and argument: the model, by its name, as some caller in the file placed it."""
    _results: list[Moved] = field(default_factory=list)
    """What is brought to the CPU."""
    _prepares: bool = False
    _places: set[str] = field(default_factory=set)
    """Functions and classes that put something elsewhere than on the CPU: they are written for accelerators."""

    def moved(self, event: Moved) -> None:
        self._moved.add(event.receiver_text.rpartition(".")[2])
        if event.target == CPU:
            self._results.append(event)
        elif event.moves:
            self._places.add(_outermost(event.scope))

    def created(self, event: Created) -> None:
        if event.named is not None:
            self._places.add(_outermost(event.scope))

    def called(self, event: Called) -> None:
        self._prepares = self._prepares or any(word in event.name for word in _PREPARES)

    def model_called(self, event: CallersModuleCalled) -> None:
        if event.scope.setting in (Setting.MODULE_LEVEL, Setting.HOST) or _is_told_where(event.node):
            return
        for operand in (*event.inputs[:1], *event.left):
            batch = batch_of(getattr(operand.value, "device", None))
            if batch is not None and event.brought is not None and not brings_its_inputs(event.brought):
                name = code_of(event.module.node)
                self._brought[event.scope.qualname, code_of(operand.node)] = (name, event.brought)
            if batch is not None:
                self._drafts.append((event, batch.key, _draft(event, operand, batch)))

    def finish(self, siblings: Mapping[str, Moved], told: Container[str]) -> Iterator[Draft]:
        """``siblings``: by the batch's key, an item of it that was moved; ``told``: the keys of those told already."""
        seen: set[tuple[str, str]] = set()
        for call, batch, draft in self._drafts:
            model = code_of(call.module.node).rpartition(".")[2]
            key = (draft.scope.qualname, code_of(draft.node))
            sibling = siblings.get(batch)
            beside = sibling is not None and _shows_where_the_model_is(sibling, draft)
            brought = self._brought.get(key)
            known = beside or brought is not None
            if self._prepares or key in seen or batch in told or (model in self._moved and not known):
                continue
            seen.add(key)
            if brought is not None and not beside:
                yield _as_callers_placed_it(draft, *brought)
            elif sibling is not None and beside:
                yield _left_behind(draft, sibling)
            elif _outermost(draft.scope) in self._places and not _is_handed_own_loader(draft.scope):
                yield draft
            elif (step := result_brought_back(call.node, self._results)) and not _is_handed_own_loader(draft.scope):
                yield _with_result(draft, step)
            else:
                yield replace(draft, confidence=Confidence.LOW)


def _draft(event: CallersModuleCalled, operand: MismatchOperand, batch: Symbol) -> Draft:
    name = code_of(event.module.node)
    came_in = provenance_of(event.module.value)
    steps = [draft_step(step) for step in (*steps_of(operand), *((came_in.first,) if came_in is not None else ()))]
    steps[0] = DraftStep(steps[0].node, steps[0].scope, f"{steps[0].message}; {CONVENTIONS[COLLATED]}")
    return Draft(
        node=operand.node,
        scope=event.scope,
        severity=Severity.WARNING,
        message=f"{describe_operand(operand)} comes with a batch of `{batch.source}` and is not moved, but "
        f"`{name}` comes from the caller; `{name}` fails when it is on an accelerator",
        confidence=Confidence.MEDIUM if event.scope.role is Role.LIBRARY else Confidence.LOW,
        trace=(*steps, DraftStep(event.node, event.scope, "they meet here")),
        repair=Repair(Applicability.SUGGESTION, f"bring it over: `.to(next({name}.parameters()).device)`"),
        premise=Premise.LOADED_ON_THE_CPU,
    )


def brings_its_inputs(model: Module | Opaque) -> bool:
    """Whether a model takes what it is called with from the CPU: it scatters it, or its `forward` moves it."""
    if isinstance(model, Module) and WRAPPERS.get(model.type_name) == "scatters":
        return True
    forward = model.info.method("forward") if model.info is not None else None
    inputs = parameters_of(forward.node)[1:2] if forward is not None else ()
    return forward is not None and any(is_brought_over(forward.node, one.name.value) for one in inputs)


def _as_callers_placed_it(draft: Draft, model: str, brought: Module | Opaque) -> Draft:
    """A caller in the file brought the model over, and hands it on."""
    moved = brought.provenance.find(StepKind.MOVED) if brought.provenance is not None else None
    if moved is None:
        return draft
    step = DraftStep(moved.node, moved.scope, "a caller moves it here", describe(moved.device), crosses=True)
    message = draft.message.partition(", but ")[0]
    return replace(
        draft,
        message=f"{message}, but a caller moved `{model}` to {describe(moved.device)}; the call fails then",
        confidence=Confidence.LOW if draft.scope.role is Role.TEST else Confidence.MEDIUM,
        trace=(*draft.trace[:-1], step, draft.trace[-1]),
    )


def _shows_where_the_model_is(sibling: Moved, draft: Draft) -> bool:
    """An item was brought to an accelerator and kept, and is no part of what is handed in as a whole."""
    handed = code_of(draft.node)
    is_part = sibling.receiver_text.startswith((f"{handed}.", f"{handed}["))
    return sibling.target != CPU and sibling.fate == Fate.USED and not is_part


def _left_behind(draft: Draft, sibling: Moved) -> Draft:
    """What came with it was brought over: whoever wrote that knows where the model is."""
    words = f"`{sibling.receiver_text}` of the same batch is moved here"
    step = DraftStep(sibling.node, sibling.scope, words, describe(sibling.target))
    message = draft.message.replace(" is not moved, but", f" is not moved as `{sibling.receiver_text}` was, but")
    confidence = Confidence.LOW if draft.scope.role is Role.TEST else Confidence.MEDIUM
    trace = (*draft.trace[:-1], step, draft.trace[-1])
    return replace(draft, message=message, confidence=confidence, trace=trace, premise=None)


def _with_result(draft: Draft, step: DraftStep) -> Draft:
    confidence = Confidence.LOW if draft.scope.role is Role.TEST else Confidence.MEDIUM
    return replace(draft, confidence=confidence, trace=(*draft.trace, step))


def _is_handed_own_loader(scope: Scope) -> bool:
    """A private method gets the loader that its class keeps: whether that brings its batches over is written there."""
    return scope.class_name is not None and scope.qualname.rpartition(".")[2].startswith("_")


def _is_told_where(call: cst.CSTNode) -> bool:
    """``model.predict(batch, model.device)``: who is told the device as well brings the batch there."""
    import libcst as cst

    arguments = call.args if isinstance(call, cst.Call) else ()
    return any((dotted(argument.value) or "").rpartition(".")[2] == "device" for argument in arguments)


def _outermost(scope: Scope) -> str:
    return scope.qualname.partition(".")[0]
