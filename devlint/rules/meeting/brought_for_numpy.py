"""What a class, or the functions of a file, do before they hand tensors to numpy: part of DEV403.

Where several functions write `.cpu().numpy()`, the tensors that they work with are on an accelerator, and so is that of
the one that writes `.numpy()`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.wording import code_of
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.provenance import StepKind

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import HostRead
    from devlint.placement.domain.lattice import Device
    from devlint.placement.domain.scope import Scope

_HABIT = 2
"""So many other places show that it is done as a rule; one, in a class that places something on a device itself."""


@dataclass(slots=True)
class BroughtForNumpy:
    _reads: dict[str, list[HostRead]] = field(default_factory=dict)
    """By class, empty for functions: reads by numpy of copies that were made on the CPU for it."""
    _places: set[str] = field(default_factory=set)
    """Classes that move something to a device other than the CPU, or make it there."""

    def placed(self, scope: Scope, target: Device) -> None:
        if scope.class_name is not None and target != CPU:
            self._places.add(scope.class_name)

    def read(self, event: HostRead) -> None:
        provenance = event.value.provenance
        if event.value.device == CPU and provenance is not None and provenance.step.kind is StepKind.MOVED:
            self._reads.setdefault(event.scope.class_name or "", []).append(event)

    def elsewhere(self, event: HostRead) -> HostRead | None:
        """The first of several such reads in other functions; None where there is no habit.

        Where the function itself brings something over, what it reads may be computed from that.
        """
        reads = self._reads.get(event.scope.class_name or "", [])
        if event.scope.class_name is None:
            # Functions of a file have less in common than methods: an argument of the same name.
            reads = [read for read in reads if root_of(read.expression) == root_of(event.expression)]
        here = any(read.scope.qualname == event.scope.qualname for read in reads)
        enough = 1 if event.scope.class_name in self._places else _HABIT
        return reads[0] if len(reads) >= enough and not here else None


def root_of(expression: cst.CSTNode | None) -> str:
    """`model` of `model.embed(rows)[0]`."""
    return re.split(r"\W", code_of(expression), maxsplit=1)[0] if expression is not None else ""
