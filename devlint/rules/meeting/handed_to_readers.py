"""Tensors that a call hands to a function which gives them to numpy, judged by what is done around the call: DEV403.

A call of such a function is a read as good as one that stands there: what shows that a tensor at hand is on an
accelerator shows it of an argument too. Only what shows it with some certainty counts, as the tensors of most callers
are on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import DraftStep
from devlint.finding import Confidence, Severity
from devlint.placement.domain.abstract_values import Tensor
from devlint.placement.domain.lattice import CPU, Choice, GuardKind, SameAs, describe, leaves
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.rules.meeting.brought_beside import BroughtBeside
from devlint.rules.meeting.brought_for_numpy import BroughtForNumpy
from devlint.rules.meeting.device_asked import DeviceAsked
from devlint.rules.meeting.reads_by_numpy import chosen_here, follows_the_tensors_own_test, is_computed, is_tensor
from devlint.rules.meeting.reads_in_callees import draft_at_call
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.drafts.draft import Draft
    from devlint.placement.domain.abstract_values import Opaque
    from devlint.placement.domain.events import HostRead, Moved, ReadInCallee


@dataclass(slots=True)
class HandedToReaders:
    """The calls of one file that are not judged by where their argument certainly is."""

    beside: BroughtBeside
    habit: BroughtForNumpy
    device_asked: DeviceAsked
    _calls: list[ReadInCallee] = field(default_factory=list)
    _copied: dict[str, list[Moved]] = field(default_factory=dict)
    """By definition: the transfers to the CPU of what was made there, by a call or an operation."""

    def moved(self, event: Moved) -> None:
        made = isinstance(event.receiver, Tensor) and _is_made(event.receiver)
        if event.target == CPU and made and not event.guarded:
            self._copied.setdefault(event.scope.qualname, []).append(event)

    def handed(self, event: ReadInCallee) -> None:
        """A call whose argument may be on the CPU, for all that its place tells."""
        asked = any(arm.guard.kind is GuardKind.ON_ACCELERATOR for arm in event.arms)
        if event.scope.role is Role.TEST or event.scope.setting is Setting.HOST or asked:
            return
        follows = isinstance(event.device, Choice) and follows_the_tensors_own_test(event.device)
        if any(isinstance(leaf, SameAs) for leaf in leaves(event.device)) and not follows:
            self._calls.append(event)

    def drafts(self) -> Iterator[tuple[ReadInCallee, Draft]]:
        """What is known once the whole file has been read."""
        for event in self._calls:
            told = None if event.callers_on_cpu else self._told(event.as_read_here)
            if told is not None:
                where, steps = told
                yield event, draft_at_call(event, where, Severity.WARNING, Confidence.MEDIUM, steps)

    def _told(self, read: HostRead) -> tuple[str, tuple[DraftStep, ...]] | None:
        """Where the argument is, and the steps that show it."""
        if (asked := self.device_asked.beside(read)) is not None:
            return "is where the caller put it", (asked,)
        if (brought := self.beside.of(read)) is not None:
            return "is where it was computed" if is_computed(read) else "is where the caller put it", (brought,)
        if (place := chosen_here(read)) is not None:
            return f"is on {describe(place)}", ()
        if (copied := self._copied_beside(read)) is not None:
            words = "another tensor that is there is brought to the CPU here"
            return "is where it was computed", (DraftStep(copied.node, copied.scope, words, "cpu", passes_on=False),)
        habit = self.habit.elsewhere(read) if is_tensor(read) and is_computed(read) else None
        if habit is not None:
            words = "a tensor is brought to the CPU for numpy here"
            return "is where it was computed", (DraftStep(habit.node, habit.scope, words, "cpu", passes_on=False),)
        return None

    def _copied_beside(self, read: HostRead) -> Moved | None:
        """A transfer to the CPU, in the same function, of another tensor that was made in the same place.

        Where that is an argument itself, the caller knows which of them are arrays.
        """
        if not isinstance(read.value, Tensor) or not _is_made(read.value):
            return None
        places = {leaf for leaf in leaves(read.value.device) if isinstance(leaf, SameAs)}
        return next(
            (
                move
                for move in self._copied.get(read.scope.qualname, ())
                if isinstance(move.receiver, Tensor)
                if set(move.arms) <= set(read.arms) and not places.isdisjoint(leaves(move.receiver.device))
            ),
            None,
        )


def _is_made(value: Tensor | Opaque) -> bool:
    """Whether a call or an operation gives it: it is not what came in, nor a part of it."""
    step = value.provenance.step if value.provenance is not None else None
    return step is not None and step.kind in (StepKind.COMPUTED, StepKind.RETURNED)
