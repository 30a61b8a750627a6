"""Tensors that are made on the CPU and stored in an object whose others are elsewhere: part of DEV101.

The object was moved, `batch = batch.to(device)`, or came to a `forward` with tensors beside the module's parameters.
Whoever gets it works with all of it there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step, provenance_of
from devlint.drafts.wording import bare_creation, code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.evidence_names import names_a_module
from devlint.placement.domain.abstract_values import Container, Opaque, Self, Tensor
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Device,
    GuardKind,
    describe,
    guards_of,
    is_of_module,
    is_of_parameter,
    leaves,
)
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import elements_of
from devlint.semantics import Dim
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.call_site import CallSite
    from devlint.placement.domain.events import Called, Moved, Returned, Stored
    from devlint.placement.domain.provenance import Step

_OF_THE_HOST = re.compile(r"len|size|num|count|name|path|meta|info|cpu|^id$|_id$")
"""In the names of what is read on the host: lengths for packing, numbers, metadata."""


class _Kept(NamedTuple):
    event: Stored
    step: Step
    owner: str
    """The object, in the source's words."""


@dataclass(slots=True)
class StoredBeside:
    """What one file stores in objects that are elsewhere."""

    _kept: dict[tuple[str, str], _Kept] = field(default_factory=dict)
    """By definition and target."""
    _calls: dict[str, list[CallSite]] = field(default_factory=lambda: defaultdict(list))
    """By definition: its calls, to which it hands something."""
    _handed_back: dict[str, list[cst.CSTNode]] = field(default_factory=lambda: defaultdict(list))
    """By definition: what it returns."""
    _inputs: set[tuple[str, str]] = field(default_factory=set)
    """Classes, each with a method that its `forward` hands its own input to."""

    def stored(self, event: Stored) -> None:
        if (
            not (_is_elsewhere(event) or _is_of_a_step(event))
            or event.attribute is None
            or _OF_THE_HOST.search(event.attribute.lower())
        ):
            return
        value = event.value
        step = bare_creation(value) if isinstance(value, Tensor) and _is_made_anywhere(value.device) else None
        if step is None or step.scope != event.scope or not isinstance(value, Tensor) or value.dim is not Dim.NONZERO:
            self._kept.pop((event.scope.qualname, event.target), None)
            return
        owner = event.target.removesuffix(f".{event.attribute}").partition("[")[0]
        if names_a_module(owner.rpartition(".")[2]):
            # A model has attributes of all kinds: `model.stride = torch.tensor([32.0])`.
            return
        self._kept[event.scope.qualname, event.target] = _Kept(event, step, owner)

    def moved(self, event: Moved) -> None:
        """What is moved afterwards, alone or with the object, is there in the end."""
        for key, kept in list(self._kept.items()):
            if key[0] == event.scope.qualname and event.receiver_text in (kept.owner, kept.event.target):
                del self._kept[key]

    def called(self, event: Called) -> None:
        scope = event.scope
        if isinstance(event.receiver, Self) and scope.setting is Setting.FORWARD and scope.class_name is not None:
            first = _part_of(event.call.positional[0].value) if event.call.positional else None
            if first is not None and is_of_module(first.device):
                self._inputs.add((scope.class_name, event.name.removeprefix(".")))
        if event.call.arguments:
            self._calls[event.scope.qualname].append(event.call)

    def returned(self, event: Returned) -> None:
        if event.value_node is not None:
            nodes = elements_of(event.value_node) or [event.value_node]
            self._handed_back[event.scope.qualname].extend(nodes)

    def finish(self) -> Iterator[Draft]:
        for (definition, _), kept in self._kept.items():
            # Rendered where something was kept alone: most calls have nothing to do with it.
            handed = [one.node for call in self._calls[definition] for one in call.arguments]
            handed_on = any(code_of(node) == kept.owner for node in (*handed, *self._handed_back[definition]))
            # What a method of no module prepares and hands back goes to whoever moves it.
            if (handed_on and _is_elsewhere(kept.event)) or self._is_input(kept):
                yield _draft(kept)

    def _is_input(self, kept: _Kept) -> bool:
        """Whether it is stored in the input of a `forward`, by a method that gets that: the other steps read it."""
        class_name, _, method = kept.event.scope.qualname.rpartition(".")
        return _is_of_a_step(kept.event) and (class_name, method) in self._inputs


def _is_made_anywhere(device: Device) -> bool:
    """Whether some run makes it on the CPU, and no test of a device decides which."""
    return CPU in leaves(device) and all(guard.kind is not GuardKind.ON_ACCELERATOR for guard in guards_of(device))


def _is_elsewhere(event: Stored) -> bool:
    """Whether the object was moved, or came to a `forward`, and is not just what a function gave."""
    part, scope = _part_of(event.owner) or _gathered_in(event.owner), event.scope
    if part is None or scope.setting is Setting.HOST or scope.role is Role.TEST:
        return False
    provenance = provenance_of(part)
    if provenance is None or part.device in (CPU, UNKNOWN):
        return False
    if provenance.step.kind is StepKind.MOVED:
        return True
    return _came_in(part) and scope.setting is Setting.FORWARD and is_of_module(part.device)


def _came_in(part: Opaque | Tensor) -> bool:
    """Whether it is an argument, or a part of one."""
    provenance = provenance_of(part)
    return provenance is not None and provenance.step.kind is StepKind.GIVEN and provenance.previous is None


def _is_of_a_step(event: Stored) -> bool:
    """Whether the object came in as the argument of a method that is no `forward`."""
    part, scope = _part_of(event.owner), event.scope
    if part is None or scope.setting is not Setting.METHOD or scope.role is Role.TEST:
        return False
    return _came_in(part) and is_of_parameter(part.device)


def _part_of(owner: Value | None) -> Opaque | Tensor | None:
    """What stands for all that an object or a dict holds; None for a tensor, and for what nothing is known of."""
    if isinstance(owner, Container) and owner.keys is not None:
        return owner.rest if isinstance(owner.rest, (Opaque, Tensor)) else None
    return owner if isinstance(owner, Opaque) and not owner.tensorlike else None


def _gathered_in(owner: Value | None) -> Opaque | Tensor | None:
    """Of a dict that is written here, `{"obs": batch["obs"]}`: what came in, beside which its reader works."""
    held = owner.items if isinstance(owner, Container) and owner.keys is not None else ()
    return next((one for one in held if isinstance(one, (Opaque, Tensor)) and _came_in(one)), None)


def _draft(kept: _Kept) -> Draft:
    event, step = kept.event, kept.step
    part = _part_of(event.owner) or _gathered_in(event.owner)
    assert part is not None
    built_here = isinstance(event.owner, Container) and event.owner.node is not None
    there = "holds what is where the module is" if built_here else "came in beside the module's parameters"
    provenance = provenance_of(part)
    if not is_of_module(part.device) and not _is_of_a_step(event):
        there = f"was moved to {describe(part.device)}"
    before = (draft_step(provenance.step),) if provenance is not None else ()
    return Draft(
        node=step.node,
        scope=event.scope,
        severity=Severity.WARNING,
        message=f"{quoted(step.node, f'`{step.name}`')} is created on the CPU and stored in `{kept.owner}`, which "
        f"{there}; what works with `{kept.owner}` there fails",
        confidence=Confidence.MEDIUM,
        trace=(draft_step(step), *before, DraftStep(event.node, event.scope, "stored beside what is elsewhere here")),
        repair=Repair(Applicability.SUGGESTION, f"create it where the other tensors of `{kept.owner}` are"),
    )
