"""What a module keeps of the data that it was fitted to: part of DEV501.

``fit`` computes it where its data is, and nothing moves it with the module that is used afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.own_transfers import moves_itself
from devlint.placement.domain.abstract_values import NONE, Container, Kind, Self, Tensor
from devlint.placement.domain.lattice import CPU, is_movable
from devlint.placement.domain.provenance import was_moved
from devlint.placement.domain.scope import Setting
from devlint.semantics import Dim
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.class_facts import ClassFacts
    from devlint.placement.domain.events import ClassCompleted, Loaded, Moved, Stored

_Key = tuple[str, str]
"""A class and an attribute."""


@dataclass(slots=True)
class FittedState:
    """Stores of tensors that methods called ``fit`` compute of their arguments, by class and attribute."""

    _fitted: dict[_Key, Stored] = field(default_factory=dict)
    _otherwise: set[_Key] = field(default_factory=set)
    """What other methods store as well."""
    _moved: set[_Key] = field(default_factory=set)
    """What some method brings to where it is used."""
    _read: dict[_Key, Loaded] = field(default_factory=dict)
    """The first read by a method that does not fit."""

    def stored(self, event: Stored) -> None:
        owner = event.scope.class_name
        if owner is None or event.attribute is None or not isinstance(event.owner, Self):
            return
        if event.scope.setting is Setting.CONSTRUCTION:
            return
        if not _fits(event.scope.qualname):
            self._otherwise.add((owner, event.attribute))
        elif _is_of_the_data(event.value) and not _is_as_given(event):
            self._fitted.setdefault((owner, event.attribute), event)

    def moved(self, event: Moved) -> None:
        owner = event.scope.class_name
        attribute = _ATTRIBUTE.match(event.receiver_text) if owner is not None and event.moves else None
        if owner is not None and attribute is not None:
            self._moved.add((owner, attribute[1]))

    def loaded(self, event: Loaded) -> None:
        scope = event.scope
        if scope.class_name is None or scope.setting is Setting.CONSTRUCTION:
            return
        key = scope.class_name, event.attribute
        if key not in self._read and not _fits(scope.qualname):
            self._read[key] = event

    def of_class(self, event: ClassCompleted) -> Iterable[Draft]:
        """One finding for all that a class is fitted to: it is brought along in one way."""
        info = event.facts.info
        if not info.is_module or not info.defines("forward") or event.scope.role is Role.TEST:
            return
        kept = {name: one for (owner, name), one in self._fitted.items() if owner == info.qualname}
        order = list(event.facts.attributes)
        names = [name for name in kept if self._stays(event.facts, name)]
        names.sort(key=lambda name: order.index(name) if name in order else len(order))
        if not names:
            return
        stored, fact = kept[names[0]], event.facts.attributes.get(names[0])
        read = self._read[info.qualname, names[0]]
        place = fact if fact is not None and fact.scope.class_name == info.qualname else stored
        others = f", as {_listed(names[1:])}" if names[1:] else ""
        yield Draft(
            node=place.node,
            scope=place.scope,
            severity=Severity.WARNING,
            message=f"`self.{names[0]}` is a plain attribute{others}: `{_method(stored.scope.qualname)}` leaves it "
            "where its data is, and it stays there when the module moves",
            confidence=Confidence.MEDIUM,
            trace=(
                DraftStep(stored.node, stored.scope, "computed of the data here"),
                DraftStep(read.node, read.scope, "read here"),
            ),
            repair=Repair(
                Applicability.SUGGESTION,
                f'`self.register_buffer("{names[0]}", None)` in the constructor: what is assigned later moves as well',
            ),
        )

    def _stays(self, facts: ClassFacts, name: str) -> bool:
        info, key = facts.info, (facts.info.qualname, name)
        if key in self._otherwise or key in self._moved or moves_itself(info, name):
            return False
        fact, read = facts.attributes.get(name), self._read.get(key)
        if read is None or (fact is not None and not _is_to_be_replaced(fact.value)):
            return False
        if info.method(name) is not None:
            return False  # a property, whose setter may keep a buffer (fixture `fitted_to_a_property`)
        reader = info.methods.get(_method(read.scope.qualname))
        # A property may be there for others alone.
        return reader is None or not reader.is_property or (info.qualname, reader.name) in self._read


_ATTRIBUTE = re.compile(r"self\.(\w+)")


def _listed(names: list[str]) -> str:
    shown = [f"`self.{name}`" for name in names[:2]]
    return " and ".join(shown) if len(names) <= 2 else f"{', '.join(shown)} and others"


def _method(qualname: str) -> str:
    return qualname.rpartition(".")[2]


def _fits(qualname: str) -> bool:
    return "fit" in _method(qualname).split("_")


def _is_to_be_replaced(value: Value) -> bool:
    """What a constructor keeps until the data comes: nothing, or a tensor that it makes on the CPU."""
    return value == NONE or (isinstance(value, Tensor) and value.kind is Kind.PLAIN and value.device == CPU)


def _is_of_the_data(value: Value) -> bool:
    """A tensor with dimensions, or a dict or list of such, that is where an argument is."""
    if isinstance(value, Container):
        inside = list(value.innermost)
        return bool(inside) and all(map(_is_of_the_data, inside))
    if not isinstance(value, Tensor) or value.kind is not Kind.PLAIN or value.dim is Dim.ZERO:
        return False
    return is_movable(value.device) and not was_moved(value.provenance)


def _is_as_given(event: Stored) -> bool:
    """`self.points = points`: it is where the caller wants it."""
    given = provenance_of(event.value)
    return given is not None and event.value_node is not None and code_of(event.value_node) == given.step.name
