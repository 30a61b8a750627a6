"""Class facts: the attributes of a class, from the evaluation of its constructor and its other methods."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING

from devlint.placement.declarations.definitions import ClassInfo
from devlint.placement.domain.abstract_values import (
    Container,
    DeviceName,
    Kind,
    Module,
    Tensor,
    Value,
)
from devlint.placement.domain.lattice import UNKNOWN
from devlint.placement.domain.provenance import Step, StepKind, extend
from devlint.placement.domain.scope import Scope
from devlint.placement.domain.value_join import is_placeholder
from devlint.records import dataclass, replace

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True, slots=True, eq=False)
class AttributeFact:
    """One attribute. ``kind`` is parameter, buffer, module, tensor, container, device or other."""

    name: str
    value: Value
    node: cst.CSTNode
    scope: Scope
    kind: str
    stores: int = 1
    """Number of assignments in all methods."""
    loaded_in: frozenset[str] = frozenset()
    """Names of the methods that read it; filled after all methods have been evaluated."""
    registered: bool = False
    """Passed to ``add_module``, ``register_*`` or a registering container elsewhere in the class."""


@dataclass(slots=True, eq=False)
class ClassFacts:
    """The attributes of a class, including those of its bases in the project."""

    info: ClassInfo
    attributes: dict[str, AttributeFact] = field(default_factory=dict)
    dynamic: bool = False
    """Registers under computed names, or sets attributes with ``setattr``."""
    handed_up: dict[str, Value] = field(default_factory=dict)
    """What its constructor says to those of its bases, by the keys of their parameters' symbols."""
    said: set[str] = field(default_factory=set)
    """Attributes that a base stores, of what this class, or one between the two, says to its constructor."""
    said_at: tuple[cst.CSTNode, Scope] | None = None
    """The call in which its constructor says it."""


def stored_by(facts: ClassFacts, above: Iterable[ClassFacts]) -> dict[str, AttributeFact]:
    """The attributes that a class stores itself: what it has of its bases, a sister class may store anew."""
    inherited = [one.attributes for one in above]
    return {
        name: fact
        for name, fact in facts.attributes.items()
        if not any((known := one.get(name)) is not None and known.node is fact.node for one in inherited)
    }


@dataclass(slots=True, eq=False)
class ObjectStores:
    """Stores on objects that an evaluation observed."""

    stored: dict[ClassInfo, dict[str, tuple[Value, cst.CSTNode, Scope]]] = field(default_factory=dict)
    """Attributes that every object of the class begins with: value, node and scope of the last store."""
    plain: dict[tuple[ClassInfo, str], tuple[cst.CSTNode, Scope]] = field(default_factory=dict)
    """Where an attribute keeps a plain tensor, if another arm further down registers one or is handed one."""
    registered: dict[tuple[ClassInfo, str], Value] = field(default_factory=dict)
    """What an arm registers under the name of an attribute."""
    left_on_cpu: set[tuple[ClassInfo, str]] = field(default_factory=set)
    """Attributes in which an arm keeps a plain tensor of the CPU."""
    later: dict[tuple[str, str], dict[int, Value]] = field(default_factory=dict)
    """By method and attribute: what is stored after the construction, by the identity of the target."""
    filled: dict[tuple[str, str], dict[int, Value]] = field(default_factory=dict)
    """By method and attribute: what is put into the container there, by the identity of the call or the target."""
    buffers: set[tuple[ClassInfo, str]] = field(default_factory=set)
    dynamic: set[ClassInfo] = field(default_factory=set)
    """Classes that register under computed names."""
    handed_up: dict[str, Value] = field(default_factory=dict)
    """What a constructor says to those of the bases, by the keys of their parameters' symbols."""
    said_at: tuple[cst.CSTNode, Scope] | None = None
    """The call in which it says it."""

    def add(self, other: ObjectStores) -> None:
        for info, stored in other.stored.items():
            self.stored.setdefault(info, {}).update(stored)
        for key, values in other.later.items():
            self.later.setdefault(key, {}).update(values)
        for key, values in other.filled.items():
            self.filled.setdefault(key, {}).update(values)
        self.plain.update(other.plain)
        self.registered.update(other.registered)
        self.left_on_cpu |= other.left_on_cpu
        self.buffers |= other.buffers
        self.dynamic |= other.dynamic
        self.handed_up.update(other.handed_up)
        self.said_at = self.said_at or other.said_at


NAMES_OF_STATE = {
    "parameters": Kind.PARAMETER,
    "named_parameters": Kind.PARAMETER,
    "buffers": Kind.BUFFER,
    "named_buffers": Kind.BUFFER,
}
"""Methods of a Module that name its state, and the kind of what they give."""


def kind_of(value: Value) -> str:
    match value:
        case Tensor(kind=Kind.PARAMETER):
            return "parameter"
        case Tensor(kind=Kind.BUFFER):
            return "buffer"
        case Tensor():
            return "tensor"
        case Module():
            return "module"
        case Container():
            return "container"
        case DeviceName():
            return "device"
        case _:
            return "other"


def is_registered(value: Value) -> bool:
    """Whether `Module.to` moves the value when an attribute of the module holds it."""
    return isinstance(value, Module) or (isinstance(value, Tensor) and value.kind in (Kind.PARAMETER, Kind.BUFFER))


def names_registered(container: Container, facts: ClassFacts) -> bool:
    """Whether all state in a container is registered as well: `self.layers = [self.first, self.second]`.

    So are the parameters of a part: `self.inner = inner; self.weights = list(inner.parameters())`.
    """
    inside = [value for value in container.innermost if is_registered(value)]
    named = [fact.value for fact in facts.attributes.values() if is_registered(fact.value)]
    parts = [part for value in named if isinstance(value, Module) for part in value.children]
    ways = {_way(value) for value in (*named, *parts)} - {()}
    return bool(inside) and all(any(way[:n] in ways for n in range(1, len(way) + 1)) for way in map(_way, inside))


def _way(value: Value) -> tuple[int, ...]:
    """What made a value and what it went through before it was stored, as the identities of the nodes."""
    provenance = value.provenance if isinstance(value, (Module, Tensor)) else None
    steps = reversed(tuple(provenance)) if provenance is not None else ()
    return tuple(id(step.node) for step in steps if step.kind is not StepKind.STORED)


def kept(value: Value, name: str, node: cst.CSTNode, scope: Scope) -> Value:
    """A value stored on a Module where `Module.to` does not move it; its provenance gets the step of the store."""
    if isinstance(value, Container):
        return value.with_each(lambda item: _item(item, name, node, scope))
    if isinstance(value, Tensor) and value.kind in (Kind.PLAIN, Kind.UNWRAPPED):
        return _inside(value, name, node, scope)
    return value


def _item(value: Value, name: str, node: cst.CSTNode, scope: Scope) -> Value:
    """``self.cache = (torch.tensor([]),)``: an empty item is filled in, from outside too, before it is used."""
    if isinstance(value, Tensor) and is_placeholder(value):
        return replace(value, device=UNKNOWN)
    return _inside(value, name, node, scope)


def _inside(value: Value, name: str, node: cst.CSTNode, scope: Scope) -> Value:
    """In a plain container not even parameters and modules are moved."""
    if isinstance(value, Container):
        return kept(value, name, node, scope)
    if isinstance(value, (Tensor, Module)):
        step = Step(StepKind.STORED, node, scope, value.device, f"self.{name}")
        return replace(value, provenance=extend(value.provenance, step))
    return value
