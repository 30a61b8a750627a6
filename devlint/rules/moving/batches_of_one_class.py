"""Batches as a loader hands them out, for a model to which another method of its class brings them: part of DEV208."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step, provenance_of
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.evidence_conventions import COLLATED, CONVENTIONS, draws_from_a_loader
from devlint.placement.domain.abstract_values import Module, Opaque, Self, Tensor, Value, innermost_of
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, GuardKind, SameAs, batch_of
from devlint.placement.domain.provenance import StepKind, was_moved
from devlint.placement.syntax.nodes import parameters_of
from devlint.rules.moving.batches_for_models import brings_its_inputs
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Argument
    from devlint.placement.domain.events import Called, ClassCompleted, Moved, Stored
    from devlint.placement.domain.lattice import Symbol

_OF_MODELS = frozenset(
    {"eval", "train", "parameters", "named_parameters", "state_dict", "load_state_dict", "zero_grad"}
)
"""Methods by which an attribute is known for a model, whatever it is made of."""

_BRINGING = ("to_device", "move", "cuda", "gpu", "prepare")
"""Words in the names of what brings a batch over where it lies: ``self._move_to_device(batch)``."""

_Place = tuple[str, str]
"""A model, by its class and attribute; or a parameter, by the qualified name of its method and its own."""


class _Handed(NamedTuple):
    """A call of a method or a model of the class with a batch, or a part of one."""

    event: Called
    argument: Argument


@dataclass(slots=True)
class BatchesOfOneClass:
    """What the methods of the classes of one file do with batches before a model of theirs gets them."""

    _hands_on: dict[_Place, set[_Place]] = field(default_factory=dict)
    """By a parameter that is handed on as it came: what gets it."""
    _unmoved: list[tuple[_Place, _Handed]] = field(default_factory=list)
    _brought: dict[_Place, _Handed] = field(default_factory=dict)
    """The first batch that was brought over for it."""
    _in_place: set[str] = field(default_factory=set)
    """The keys of batches that are handed to what brings them over."""
    _models: set[_Place] = field(default_factory=set)
    _host: set[_Place] = field(default_factory=set)
    """Models that are put on the CPU, or that bring their inputs over themselves."""

    def called(self, event: Called) -> None:
        owner = event.scope.class_name
        if owner is None or event.on_cpu:
            return
        name = event.name.removeprefix(".")
        if any(word in name for word in _BRINGING):
            self._in_place |= {batch.key for one in event.call.arguments if (batch := _batch(one)) is not None}
        if name in _OF_MODELS:
            path = code_of(event.call.node.func).split(".")
            self._models |= {(owner, path[1])} if len(path) == len(("self", "model", name)) else set()
        if not isinstance(event.receiver, Self) or event.receiver.is_super or not event.call.arguments:
            return
        method = event.receiver.info.method(name)
        if method is None:
            self._hand(event, event.call.arguments[0], (owner, name))
            return
        expected = [parameter.name.value for parameter in parameters_of(method.header)[not method.is_static :]]
        for position, argument in enumerate(event.call.arguments):
            target = argument.keyword or (expected[position] if position < len(expected) else "")
            self._hand(event, argument, (method.qualname, target))
        moved = next(filter(_is_brought, event.call.arguments), None)
        if moved is not None and not any(map(_is_as_handed_out, event.call.arguments)):
            # Of what comes together, some went through a helper and is not known to have been moved.
            for target in expected:
                self._brought.setdefault((method.qualname, target), _Handed(event, moved))

    def _hand(self, event: Called, argument: Argument, target: _Place) -> None:
        if argument.star or event.guarded or _tests_for_another_type(event):
            return
        if _is_as_handed_out(argument):
            self._unmoved.append((target, _Handed(event, argument)))
        elif _is_brought(argument):
            self._brought.setdefault(target, _Handed(event, argument))
        elif (name := _parameter(argument.value)) is not None:
            self._hands_on.setdefault((event.scope.qualname, name), set()).add(target)

    def moved(self, event: Moved) -> None:
        """A model that is brought to the CPU gets what is there."""
        attribute = event.receiver_text.removeprefix("self.")
        if event.scope.class_name is not None and event.target == CPU and event.receiver_text != attribute:
            self._host.add((event.scope.class_name, attribute))

    def stored(self, event: Stored) -> None:
        """``self.net = build().to(device)``: what is moved and kept is a model."""
        owner, value = event.scope.class_name, event.value
        if owner is None or event.attribute is None or not isinstance(event.owner, Self):
            return
        if isinstance(value, (Module, Opaque)) and was_moved(value.provenance):
            (self._host if value.device == CPU else self._models).add((owner, event.attribute))

    def class_completed(self, event: ClassCompleted) -> None:
        for name, fact in event.facts.attributes.items():
            if isinstance(fact.value, Module) and brings_its_inputs(fact.value):
                self._host.add((event.facts.info.qualname, name))

    def finish(self, told: set[str]) -> Iterator[Draft]:
        """``told``: the keys of the batches that are told of already; those of these drafts are added."""
        brought = {model: handed for place, handed in self._brought.items() for model in self._reached(place)}
        for place, handed in self._unmoved:
            batch = _batch(handed.argument)
            if batch is None or batch.key in self._in_place:
                continue
            for model in sorted(self._reached(place) & brought.keys()):
                if batch.key in told or model in self._host:
                    continue
                told.add(batch.key)
                yield _draft(handed, f"self.{model[1]}", brought[model], batch.source)

    def _reached(self, place: _Place) -> set[_Place]:
        """The models that get what is handed to a place."""
        waiting, reached = [place], set[_Place]()
        while waiting:
            current = waiting.pop()
            if current not in reached:
                reached.add(current)
                waiting += self._hands_on.get(current, ())
        return reached & self._models


def hands_on_a_batch(event: Called) -> bool:
    """Whether an object hands to a method or a model of its own what a loader handed out."""
    return isinstance(event.receiver, Self) and any(map(_is_as_handed_out, event.call.arguments))


def _tests_for_another_type(event: Called) -> bool:
    """``if isinstance(data, dict): self.model(data)``: who is handed no tensor knows what to do with it."""
    tests = (arm for arm in event.arms if arm.guard.text.startswith(("isinstance(", "type(")))
    return any(arm.guard.kind is not GuardKind.IS_TENSOR or not arm.holds for arm in tests)


def _parameter(value: Value) -> str | None:
    """The parameter that a value is, as it came in."""
    device = getattr(value, "device", None)
    if not isinstance(device, SameAs) or device.symbol.anchor is not Anchor.PARAMETER:
        return None
    return device.symbol.name if _comes_as_it_is(value) else None


def _comes_as_it_is(value: Value) -> bool:
    kinds = {step.kind for step in provenance_of(value) or ()}
    return kinds.isdisjoint({StepKind.COMPUTED, StepKind.MOVED, StepKind.RETURNED, StepKind.STORED})


def _batch(argument: Argument) -> Symbol | None:
    return batch_of(getattr(argument.value, "device", None))


def _is_as_handed_out(argument: Argument) -> bool:
    """Whether a loader handed it out, and nothing was done with it since."""
    batch = _batch(argument)
    return batch is not None and draws_from_a_loader(batch.source) and _comes_as_it_is(argument.value)


def _is_brought(argument: Argument) -> bool:
    """Whether it is of a batch, or all of it, and was brought to another place than the CPU."""
    value = argument.value
    for one in innermost_of(value):
        provenance = provenance_of(one)
        if not isinstance(one, (Tensor, Opaque)) or provenance is None or not was_moved(provenance):
            continue
        batch = batch_of(provenance.first.device)
        if one.device not in (CPU, UNKNOWN) and batch is not None and draws_from_a_loader(batch.source):
            return True
    return False


def _draft(handed: _Handed, model: str, brought: _Handed, source: str) -> Draft:
    event, argument = handed
    provenance = provenance_of(argument.value)
    moved = provenance_of(brought.argument.value)
    steps = [draft_step(step) for step in reversed(tuple(provenance or ()))]
    steps[:1] = [replace(steps[0], message=f"{steps[0].message}; {CONVENTIONS[COLLATED]}")] if steps else []
    transfer = moved.find(StepKind.MOVED) if moved is not None else None
    if transfer is not None:
        steps.append(DraftStep(transfer.node, transfer.scope, "a batch is moved here", crosses=True))
    there = brought.event
    steps.append(DraftStep(there.node, there.scope, f"and gets to `{model}` by this call", crosses=True))
    item, other = code_of(argument.node), there.scope.qualname.rpartition(".")[2]
    return Draft(
        node=argument.node,
        scope=event.scope,
        severity=Severity.WARNING,
        message=f"`{item}` comes with a batch of `{source}` and gets to `{model}` as it came, but `{other}` moves its "
        f"batches before; `{model}` fails here when it is on an accelerator",
        confidence=Confidence.LOW if event.scope.role is Role.TEST else Confidence.MEDIUM,
        trace=(*steps, DraftStep(event.node, event.scope, "handed on here")),
        repair=Repair(Applicability.SUGGESTION, f"move it as well, as `{other}` does"),
    )
