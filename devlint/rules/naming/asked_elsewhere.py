"""A class that asks before it goes to the accelerator, and in one method does not: part of DEV302."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.events import Sink
from devlint.placement.domain.lattice import GuardKind
from devlint.rules.current_device import goes_to_current
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import Moved
    from devlint.placement.domain.scope import Scope
    from devlint.rules.naming.accelerator_places import Place


@dataclass(slots=True)
class AskedElsewhere:
    """The guarded moves to the current accelerator in the methods of one file."""

    _asked: dict[str, tuple[Moved, str]] = field(default_factory=dict)
    """By class: the first move under an attribute that says whether the accelerator is used, and that attribute."""

    def moved(self, event: Moved) -> None:
        owner = event.scope.class_name
        if owner is None or not goes_to_current(event):
            return
        # `if self.use_cuda:`; a longer condition may be about other things as well.
        guards = (d.guard for d in event.arms if d.holds and d.guard.kind is GuardKind.ON_ACCELERATOR)
        flag = next((guard.text for guard in guards if _is_flag(guard.text)), None)
        if flag is not None:
            self._asked.setdefault(owner, (event, flag))

    def draft_of(self, place: Place) -> Draft | None:
        """Of a move that nobody asks about, in another method that callers may call in any state of the object."""
        asked = self._asked.get(place.scope.class_name or "")
        if asked is None or place.move is None or place.sink != Sink.TRANSFER or place.conditions or place.weak:
            return None
        move, flag = asked
        if move.scope == place.scope or place.scope.role is Role.TEST or _is_helper(place.scope):
            return None
        moved = quoted(place.node, f"`{place.text}`")
        return Draft(
            node=place.node,
            scope=place.scope,
            message=f"{moved} needs an accelerator whatever `{flag}` says, which other methods of the class ask",
            confidence=Confidence.MEDIUM,
            trace=(DraftStep(move.node, move.scope, f"only if `{flag}` holds"),),
            repair=Repair(Applicability.SUGGESTION, f"ask `{flag}` here as well, or keep a device and move there"),
        )


def _is_flag(text: str) -> bool:
    """`self.use_cuda`, `self.cuda`: an attribute alone."""
    return text.startswith("self.") and text.removeprefix("self.").isidentifier()


def _is_helper(scope: Scope) -> bool:
    """Whether its callers, in the class, may ask before they call it."""
    return scope.qualname.rpartition(".")[2].startswith("_")
