"""What a helper puts on the accelerator, and those who call it bring to where their own tensors are: part of DEV302.

``window = make_window(n).to(image.device)`` works wherever the caller does, but for the helper's `.cuda()`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.changes import DropCall
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.events import Sink
from devlint.placement.domain.lattice import is_device_by_name, is_of_parameter
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.rules.current_device import is_current
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.placement.domain.events import Moved
    from devlint.rules.naming.accelerator_places import Definition, Place


@dataclass(slots=True)
class BroughtElsewhere:
    _brought: dict[int, Moved] = field(default_factory=dict)
    """By what a helper put on the accelerator: where a caller brings it to the device of what that was handed."""

    def moved(self, event: Moved) -> None:
        of_caller = is_of_parameter(event.target) and not is_device_by_name(event.target)
        if not event.moves or not of_caller or event.guarded:
            return
        for step in provenance_of(event.receiver) or ():
            if step.kind in (StepKind.MOVED, StepKind.MADE):
                if step.scope != event.scope and is_current(step.device):
                    self._brought.setdefault(id(step.node), event)
                return

    def draft_of(self, definition: Definition, place: Place) -> Draft | None:
        made: cst.CSTNode | None = place.move.node if place.move is not None else place.call
        brought = self._brought.get(id(made))
        decided = place.is_decided
        if brought is None or decided or definition.tests_device or place.scope.role is Role.TEST:
            return None
        if place.scope.setting is Setting.CONSTRUCTION:
            return None  # where the object works is its own affair, and what it keeps may be brought over at each use
        bare = place.sink == Sink.TRANSFER and place.move is not None and place.move.method == "cuda"
        changes: tuple[Change, ...] = (DropCall(place.move.call.node),) if bare and place.move is not None else ()
        spelled = code_of(brought.named.node) if brought.named is not None else "that of its own"
        return Draft(
            node=place.node,
            scope=place.scope,
            message=f"{quoted(place.node, f'`{place.text}`')} needs an accelerator for what is brought to `{spelled}` "
            "then, wherever that is",
            confidence=Confidence.MEDIUM,
            trace=(DraftStep(brought.node, brought.scope, "brought over here"),),
            repair=Repair(Applicability.SUGGESTION, "leave it on the CPU, or take the device from the caller", changes),
        )
