"""Devices chosen anew by what the machine has, where the caller of the definition or of its class said one: DEV302.

``device="cuda" if torch.cuda.is_available() else "cpu"`` beside ``self.model.to(self.device)``: for whoever asked for
the CPU, or for another accelerator, the two are apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from devlint.drafts.changes import Replace
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import DeviceName, Module, Opaque, Tensor
from devlint.placement.domain.lattice import SameAs, is_accelerator, leaves
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import is_named_for_accelerator, speaks_of_devices
from devlint.rules.current_device import goes_to_current, named_instead
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.placement.domain.abstract_values import Argument, Value
    from devlint.placement.domain.events import Begun, Called, Compared, Created, Moved, Stored
    from devlint.placement.domain.lattice import Decided
    from devlint.placement.domain.scope import Scope

_KEPT = re.compile(r"self\.(?:\w+\.)?(?:\w+_)?device")
_OF_OTHERS = re.compile("cpu|host|offload|storage|output|map|data|load")
"""Words in the names of devices that are for something of their own."""

_PROBES = re.compile(r"is_available|device_count|has_cuda|cuda_available")


class _Place(NamedTuple):
    """Where something goes to the accelerator of the machine."""

    node: cst.CSTNode
    scope: Scope
    at: cst.CSTNode
    """The expression that says so."""
    move: Moved | None
    conditions: tuple[str, ...]


class _Told(NamedTuple):
    """Where something goes to the device that a caller said."""

    node: cst.CSTNode
    scope: Scope
    device: str


@dataclass(slots=True)
class ChosenAnew:
    _begun: dict[Scope, Begun] = field(default_factory=dict)
    _places: list[_Place] = field(default_factory=list)
    _told: dict[Scope, list[_Told]] = field(default_factory=dict)
    _of_classes: dict[str, list[_Told]] = field(default_factory=dict)
    """By class: what its methods bring to a device that the object was told."""
    _chosen: dict[Scope, set[str]] = field(default_factory=dict)
    """By definition: the names that it binds to what the machine has."""
    _bound: dict[Scope, set[str]] = field(default_factory=dict)
    _brought_over: set[int] = field(default_factory=set)
    """What is moved once more, by the identity of the nodes that made or moved it."""
    _asking: set[Scope] = field(default_factory=set)
    """Definitions that compare a device with another, or bring over what was computed on the machine's."""

    def begun(self, event: Begun) -> None:
        self._begun[event.scope] = event

    def stored(self, event: Stored) -> None:
        self._bound.setdefault(event.scope, set()).add(event.target)
        if event.target.isidentifier() and _is_of_machine(event.value) and not _asks_for_a_device(event.value_node):
            self._chosen.setdefault(event.scope, set()).add(event.target)

    def compared(self, event: Compared) -> None:
        if any(isinstance(side, DeviceName) for side in (event.left, event.right)):
            self._asking.add(event.scope)

    def created(self, event: Created) -> None:
        if event.named is not None:
            self._note(event.scope, event.node, event.named, ())

    def called(self, event: Called) -> None:
        named = event.call.keyword("device")
        if named is not None and not event.name.startswith("torch."):
            self._note(event.scope, event.node, named, event.arms)

    def moved(self, event: Moved) -> None:
        if not event.moves:
            return
        self._brought_over.update(id(step.node) for step in provenance_of(event.receiver) or ())
        if event.named is not None and _is_told(event.named.value) and _is_there(event.receiver):
            self._asking.add(event.scope)
        if event.named is not None:
            self._note(event.scope, event.node, event.named, event.arms, event)
        elif event.guarded and goes_to_current(event) and not isinstance(event.receiver, Module):
            conditions = tuple(one.guard.text for one in event.arms)
            self._places.append(_Place(event.node, event.scope, event.node, event, conditions))

    def _note(
        self, scope: Scope, node: cst.CSTNode, named: Argument, arms: Iterable[Decided], move: Moved | None = None
    ) -> None:
        import libcst as cst

        spelled = code_of(named.node)
        if _is_of_machine(named.value):
            in_place = isinstance(named.node, (cst.IfExp, cst.Call))
            inline = in_place and "device" not in spelled.replace("torch.device", "")
            if inline or spelled in self._chosen.get(scope, ()):
                conditions = tuple(one.guard.text for one in arms)
                self._places.append(_Place(node, scope, named.node, move, conditions))
        elif _is_told(named.value) and not _OF_OTHERS.search(spelled):
            told = _Told(node, scope, spelled)
            if _KEPT.fullmatch(spelled) and scope.class_name is not None:
                self._of_classes.setdefault(scope.class_name, []).append(told)
            self._told.setdefault(scope, []).append(told)

    def drafts(self) -> list[Draft]:
        """One a definition: what it chooses is said in one place."""
        found: dict[Scope, Draft] = {}
        for place in self._places:
            if place.scope not in found and (draft := self._draft_of(place)) is not None:
                found[place.scope] = draft
        return list(found.values())

    def _draft_of(self, place: _Place) -> Draft | None:
        scope = place.scope
        contract = scope.setting in (Setting.HOST, Setting.MODULE_LEVEL) or is_named_for_accelerator(scope.qualname)
        if contract or scope.role not in (Role.LIBRARY, Role.SCRIPT) or scope in self._asking:
            return None
        if id(place.node) in self._brought_over or any(map(_may_be_anothers, place.conditions)):
            return None
        told = next(self._said_beside(scope), None)
        if told is None:
            return None
        alike = {
            id(one.at): one for one in self._places if one.scope == scope and id(one.node) not in self._brought_over
        }
        changes = tuple(change for one in alike.values() for change in _told_instead(one, told.device))
        return Draft(
            node=place.at,
            scope=scope,
            message=f"{quoted(place.at, 'this')} is the accelerator of the machine, if it has one, whatever "
            f"`{told.device}` says, where the rest goes",
            confidence=Confidence.MEDIUM,
            trace=(DraftStep(told.node, told.scope, f"goes to `{told.device}`"),),
            repair=Repair(Applicability.SUGGESTION, f"use `{told.device}`", changes),
        )

    def _said_beside(self, scope: Scope) -> Iterator[_Told]:
        begun, bound = self._begun.get(scope), self._bound.get(scope, set())
        handed = {name for name, _ in begun.arguments} if begun is not None else set()
        for told in self._told.get(scope, ()):
            root = told.device.partition(".")[0]
            # A parameter that is filled in is what was chosen for whoever says none.
            if root in handed and bound.isdisjoint((root, told.device)):
                yield told
        for told in self._of_classes.get(scope.class_name or "", ()):
            if scope.setting is not Setting.CONSTRUCTION and told.device not in bound:
                yield told


def _asks_for_a_device(node: cst.CSTNode | None) -> bool:
    """``get_device()``: what such a function knows, others may have asked as well."""
    import libcst as cst

    name = code_of(node.func) if isinstance(node, cst.Call) else ""
    return "device" in name.replace("torch.device", "")


def _told_instead(place: _Place, device: str) -> tuple[Change, ...]:
    return (Replace(place.at, device),) if place.move is None else named_instead(place.move, device)


def _may_be_anothers(condition: str) -> bool:
    """Whether it asks for a device by more than by what the machine has."""
    return speaks_of_devices(condition) and not _PROBES.search(condition)


def _is_of_machine(value: Value) -> bool:
    if not isinstance(value, DeviceName) or not value.chosen_by_probe or _is_told(value):
        return False
    return any(map(is_accelerator, leaves(value.device)))


def _is_there(value: Value) -> bool:
    device = value.device if isinstance(value, (Tensor, Opaque)) else None
    return device is not None and all(map(is_accelerator, leaves(device)))


def _is_told(value: Value) -> bool:
    """Whether a caller may have said another device than the machine's first."""
    return (
        isinstance(value, DeviceName)
        and not value.of_tensor
        and any(isinstance(leaf, SameAs) for leaf in leaves(value.device))
    )
