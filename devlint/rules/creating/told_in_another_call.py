"""Inputs of a model that are put on a device for one call of it, and left on the CPU for another: part of DEV101.

    value = self.critic(torch.tensor(state, device=self.device))
    ...
    action = self.actor(torch.tensor(state))

The parameters of one model, and of the models of one object, are in one place: where the first call says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step
from devlint.drafts.wording import bare_creation, code_of, is_of_an_image, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.calls.conventional_results import computes_where_it_is
from devlint.placement.declarations.evidence_names import (
    names_a_module,
    names_a_module_in_use,
    names_an_environment,
)
from devlint.placement.domain.abstract_values import Module, Opaque, Tensor
from devlint.placement.domain.lattice import CPU, describe, is_given, is_set_as_device
from devlint.placement.domain.provenance import was_moved
from devlint.placement.domain.scope import Setting
from devlint.semantics import Dim, DType
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import Called, Moved, Stored
    from devlint.placement.domain.provenance import Step

_ACTS = frozenset({"step", "act", "get_action", "select_action", "choose_action", "evaluate_actions", "get_value"})
"""Methods that agents are asked for actions and values with."""


class _Left(NamedTuple):
    event: Called
    model: str
    step: Step


@dataclass(slots=True)
class ToldInAnotherCall:
    """The calls of models in one file."""

    _told: dict[tuple[str, str], Called] = field(default_factory=dict)
    """By definition, or class, and model: the first call whose input was put on a device by name."""
    _left: list[_Left] = field(default_factory=list)
    _moved_about: set[tuple[str, str]] = field(default_factory=set)
    """By definition, or class: what is brought to the CPU somewhere, or replaced by what is there."""

    def called(self, event: Called) -> None:
        scope = event.scope
        value = event.call.positional[0].value if event.call.positional else None
        if not isinstance(value, Tensor) or event.on_cpu or scope.setting is Setting.HOST or scope.role is Role.TEST:
            return
        model = _model_of(event)
        if model is None:
            return
        step = bare_creation(value) or _made_of_an_image(value, event)
        made = value.device == CPU and step is not None and step.scope == scope and value.dim is not Dim.ZERO
        if made and step is not None and not _are_numbers(value, step):
            self._left.append(_Left(event, model, step))
        elif is_set_as_device(value.device) or (is_given(value.device) and was_moved(value.provenance)):
            self._told.setdefault(_key(event, model), event)

    def moved(self, event: Moved) -> None:
        if event.target == CPU:
            self._moved_about.add(_key(event, event.receiver_text))

    def stored(self, event: Stored) -> None:
        if getattr(event.value, "device", None) == CPU:
            self._moved_about.add(_key(event, event.target))

    def finish(self) -> Iterator[Draft]:
        for left in self._left:
            key = _key(left.event, left.model)
            told = self._told.get(key)
            if told is not None and not any((key[0], part) in self._moved_about for part in _owners(left.model)):
                yield _draft(left, told)


def _model_of(event: Called) -> str | None:
    """The model that is called, or asked for what it computes, in the source's words."""
    import libcst as cst

    function = event.node.func if isinstance(event.node, cst.Call) else None
    if not isinstance(function, cst.Attribute):
        return event.name if names_a_module_in_use(event.name) else None
    if event.receiver is None:
        return None  # a function of a module
    name, receiver = function.attr.value, code_of(function.value)
    last = receiver.rpartition(".")[2]
    if computes_where_it_is(name) and names_a_module(last):
        return receiver  # `self.clip.encode_image(x)`, `self.clip.encode_text(ids)`: the parameters of one model
    acts = name in _ACTS and not names_an_environment(last)
    return code_of(function) if acts or names_a_module_in_use(name) else None


def _made_of_an_image(value: Tensor, event: Called) -> Step | None:
    """The call of the transform that made it: that has no say about the device.

    Of a model that is moved in sight, and of one that is called itself, DEV405 tells.
    """
    if value.provenance is None or not is_of_an_image(value) or not computes_where_it_is(event.name.removeprefix(".")):
        return None
    moved = isinstance(event.receiver, (Module, Opaque)) and was_moved(event.receiver.provenance)
    return None if moved else value.provenance.first


def _are_numbers(value: Tensor, step: Step) -> bool:
    """Positions and classes, which a model may bring over itself, or look up on the CPU: `torch.arange(5)`."""
    counted = step.factory is not None and step.factory.name.endswith(("arange", "randint", "randperm"))
    return counted and value.dtype is not DType.OTHER


def _owners(model: str) -> list[str]:
    """`self.agent.act`, `self.agent`."""
    parts = model.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _key(event: Called | Moved | Stored, model: str) -> tuple[str, str]:
    """Where a name means one model: a class for what its objects keep, else the definition."""
    own = model.startswith("self.") and event.scope.class_name is not None
    return (event.scope.class_name or "" if own else event.scope.qualname), model


def _draft(left: _Left, told: Called) -> Draft:
    given = told.call.positional[0]
    assert isinstance(given.value, Tensor)
    where = describe(given.value.device)
    made = quoted(left.step.node, f"`{left.step.name}`")
    return Draft(
        node=left.step.node,
        scope=left.event.scope,
        severity=Severity.WARNING,
        message=f"{made} is created on the CPU and given to `{left.model}`, which another call gives what is on "
        f"{where}; one of the two fails",
        confidence=Confidence.MEDIUM,
        trace=(
            draft_step(left.step),
            DraftStep(left.event.node, left.event.scope, "it is handed in here", "cpu"),
            DraftStep(
                told.node, told.scope, f"here `{left.model}` gets what was put on a device", where, passes_on=False
            ),
        ),
        repair=Repair(Applicability.SUGGESTION, "create it on that device as well"),
    )
