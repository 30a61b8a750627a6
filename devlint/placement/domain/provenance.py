"""Where a value comes from: the chain of places that put it where it is.

A chain is a linked list from the latest step back to the first. It is compared by nothing: two values on one device
are equal whatever way they took.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from devlint.placement.domain.lattice import Device

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.scope import Scope
    from devlint.semantics import Factory


class StepKind(Enum):
    MADE = "made"
    """A factory made the tensor."""
    GIVEN = "given"
    """It came in: an argument, an item of a batch, a module's parameter."""
    MOVED = "moved"
    """A transfer put it on another device."""
    DISCARDED = "discarded"
    """A transfer whose result was thrown away, so the value stayed."""
    WRAPPED = "wrapped"
    """``nn.Parameter(...)`` made it a leaf."""
    UNWRAPPED = "unwrapped"
    """A transfer of a Parameter made it a plain tensor again."""
    REGISTERED = "registered"
    """A parameter, buffer or submodule of ``self``: ``.to`` moves it."""
    STORED = "stored"
    """Kept on ``self`` as a plain attribute: ``.to`` does not move it."""
    RETURNED = "returned"
    """Handed back by a function of this project."""
    COMPUTED = "computed"
    """The result of an operation or module on an earlier value."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One place on the way. ``name`` is what happened there in the source's words (``torch.zeros``, ``self.rnn``)."""

    kind: StepKind
    node: cst.CSTNode
    scope: Scope
    device: Device
    name: str = ""
    factory: Factory | None = None
    """For MADE: the factory, by the table."""
    bare: bool = False
    """For MADE: no device was named and none was in force."""
    note: str = ""
    """The convention by which the value counts as what it is taken for, in the words of a trace."""


@dataclass(frozen=True, slots=True, eq=False)
class Provenance:
    step: Step
    previous: Provenance | None = None
    length: int = 1
    others: tuple[Provenance, ...] = ()
    """Where a branch ends: the ways by which the value came in the other arms, if they begin elsewhere."""

    def __iter__(self) -> Iterator[Step]:
        """Steps from the latest to the first."""
        link: Provenance | None = self
        while link is not None:
            yield link.step
            link = link.previous

    @property
    def alternatives(self) -> tuple[Provenance, ...]:
        """The other ways that joined this one anywhere."""
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


def extend(provenance: Provenance | None, step: Step) -> Provenance:
    """One step more; a chain at its bound keeps its start, for the start is where the repair goes."""
    if provenance is None:
        return Provenance(step)
    if provenance.length >= MAX_STEPS:
        return provenance
    return Provenance(step, provenance, provenance.length + 1)


def beside(provenance: Provenance, other: Provenance) -> Provenance:
    """The way of a value that came by another one in the other arm of a branch."""
    first = other.first
    known = [provenance.first, *(alternative.first for alternative in provenance.alternatives)]
    if any(first is step for step in known) or len(known) > MAX_ALTERNATIVES:
        return provenance
    return replace(provenance, others=(*provenance.others, other))


MAX_ALTERNATIVES = 4
