"""What one line of a definition brings to the CPU and another one hands to numpy as it is: part of DEV403."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import DraftStep
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import code_of
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import descend
from devlint.rules.meeting.brought_for_numpy import root_of
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import HostRead, Moved
    from devlint.placement.domain.lattice import Decided
    from devlint.placement.domain.provenance import Provenance
    from devlint.placement.domain.scope import Scope


@dataclass(slots=True)
class BroughtBeside:
    """The transfers to the CPU in one file, by definition."""

    _moves: dict[str, list[Moved]] = field(default_factory=dict)

    def moved(self, event: Moved) -> None:
        if event.target == CPU and not event.guarded:
            self._moves.setdefault(event.scope.qualname, []).append(event)

    def of(self, event: HostRead) -> DraftStep | None:
        """The step that brings the very tensor over for another use; None where there is none.

        A transfer under a condition that does not decide the read as well may be for another case.
        """
        return self.at(event.scope, event.arms, event.value.provenance, event.expression)

    def at(
        self, scope: Scope, arms: tuple[Decided, ...], provenance: Provenance | None, expression: cst.CSTNode | None
    ) -> DraftStep | None:
        """The same of a value that is needed on the CPU, by what it went through and how it is written there."""
        if scope.setting is Setting.HOST or scope.role is Role.TEST:
            return None
        for move in self._moves.get(scope.qualname, ()):
            before = provenance_of(move.receiver)
            if before is None or not set(move.arms) <= set(arms):
                continue
            # ``frames, labels, names = batch``: what came in with one argument goes by other names, and may be no
            # tensor.
            came_in = before.step.kind is StepKind.GIVEN and provenance is before
            if came_in and root_of(expression) != root_of(move.receiver_node):
                continue
            if _rests_on(provenance, before):
                return DraftStep(move.node, move.scope, "it is brought to the CPU here", "cpu", passes_on=False)
        return None


def _rests_on(provenance: Provenance | None, before: Provenance) -> bool:
    """Whether a value is what another one was, or was computed of it."""
    while provenance is not None:
        if provenance is before:
            return True
        provenance = provenance.previous
    return False


def is_brought_beside(event: HostRead, other: Moved, body: cst.CSTNode) -> bool:
    """`torch.index_select(x, 0, order.cpu())`: who brings something to `x` on the CPU says that `x` is there."""
    import libcst as cst

    if event.expression is None:
        return False
    read = code_of(event.expression)
    for node in descend(body):
        if isinstance(node, cst.BinaryOperation):
            sides = [node.left, node.right]
        elif isinstance(node, cst.Call) and code_of(node.func).startswith(("torch.", "F.")):
            sides = [one.value for one in node.args]
        else:
            continue
        if any(side is other.node for side in sides) and any(code_of(side) == read for side in sides):
            return True
    return False
