"""Provenance: the steps by which a value got to its device.

It is a linked list from the latest step to the first. It does not take part in comparisons: two values on one device
are equal whatever their provenance.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING

from devlint.placement.domain.lattice import Device
from devlint.records import dataclass, replace

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.scope import Scope
    from devlint.semantics import Factory


class StepKind(Enum):
    MADE = "made"
    """A factory created the tensor."""
    GIVEN = "given"
    """It was given: an argument, an item of a batch, a module's parameter."""
    MOVED = "moved"
    """A transfer moved it to another device."""
    DISCARDED = "discarded"
    """A transfer whose result was discarded, so the value was not moved."""
    WRAPPED = "wrapped"
    """``nn.Parameter(...)`` made it a leaf."""
    UNWRAPPED = "unwrapped"
    """A transfer of a Parameter gave a plain tensor."""
    REGISTERED = "registered"
    """A parameter, buffer or submodule of ``self``: ``.to`` moves it."""
    STORED = "stored"
    """Stored on ``self`` as a plain attribute: ``.to`` does not move it."""
    RETURNED = "returned"
    """Returned by a function of the project."""
    COMPUTED = "computed"
    """The result of an operation or module on an earlier value."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One step. ``name`` is its source text (``torch.zeros``, ``self.rnn``)."""

    kind: StepKind
    node: cst.CSTNode
    scope: Scope
    device: Device
    name: str = ""
    factory: Factory | None = None
    """For MADE: the factory's row in the tables."""
    bare: bool = False
    """For MADE: no device was named, and no device context or default was set."""
    of_object: bool = False
    """For MADE: the node makes an object that holds or draws tensors (a distribution), and none itself."""
    defaulted: bool = False
    """For RETURNED: the call leaves a parameter for a device to its default, which is the CPU."""
    note: str = ""
    """The convention by which the value counts as what it is taken for, in the words of a trace."""


@dataclass(frozen=True, slots=True, eq=False)
class Provenance:
    step: Step
    previous: Provenance | None = None
    length: int = 1
    others: tuple[Provenance, ...] = ()
    """At a join: the provenance in the other arms, where it has another first step."""

    def __iter__(self) -> Iterator[Step]:
        """Steps from the latest to the first."""
        link: Provenance | None = self
        while link is not None:
            yield link.step
            link = link.previous

    @property
    def alternatives(self) -> tuple[Provenance, ...]:
        """All provenances joined at any step of this one."""
        link: Provenance | None = self
        found: tuple[Provenance, ...] = ()
        while link is not None:
            found += link.others
            link = link.previous
        return found

    @property
    def first(self) -> Step:
        return list(self)[-1]

    def find(self, *kinds: StepKind) -> Step | None:
        """The latest step of one of these kinds."""
        return next((step for step in self if step.kind in kinds), None)


MAX_STEPS = 12


def was_moved(provenance: Provenance | None) -> bool:
    """Whether a value was moved on its way, if anything is known of that."""
    return provenance is not None and provenance.find(StepKind.MOVED) is not None


def placing_step(provenance: Provenance | None) -> Step | None:
    """What moved a value last, or made it: where it is since; None if neither is known."""
    return provenance.find(StepKind.MOVED, StepKind.MADE) if provenance is not None else None


def rests_on(provenance: Provenance | None, note: str) -> bool:
    """Whether some step took the value for something by a convention, which ``note`` says in the words of a trace."""
    return any(step.note == note for step in provenance or ())


def extend(provenance: Provenance | None, step: Step) -> Provenance:
    """Append a step. At the maximum length the first step is kept, because repairs are made there."""
    if provenance is None:
        return Provenance(step)
    if provenance.length >= MAX_STEPS:
        return provenance
    return Provenance(step, provenance, provenance.length + 1)


def beside(provenance: Provenance, other: Provenance) -> Provenance:
    """The join of two provenances."""
    first = other.first
    known = [provenance.first, *(alternative.first for alternative in provenance.alternatives)]
    if any(first is step for step in known) or len(known) > MAX_ALTERNATIVES:
        return provenance
    return replace(provenance, others=(*provenance.others, other))


MAX_ALTERNATIVES = 4
