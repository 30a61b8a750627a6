"""What a tokenizer makes in both arms of a condition, brought to a device in one of them alone: DEV407."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import device_of
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.lattice import CPU, UNKNOWN, describe, exclude
from devlint.placement.domain.provenance import was_moved
from devlint.placement.operations.encoded import is_encoded
from devlint.rules.meeting.arm_drafts import draft_of
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import Moved, Stored
    from devlint.placement.domain.scope import Scope


@dataclass(slots=True)
class EncodedArms:
    """The encodings that the definitions of one file bind, by definition and name."""

    _bound: dict[tuple[Scope, str], list[Stored]] = field(default_factory=dict)
    _moved: dict[tuple[Scope, str], list[Moved]] = field(default_factory=dict)

    def stored(self, event: Stored) -> None:
        if event.target.isidentifier() and is_encoded(event.value):
            self._bound.setdefault((event.scope, event.target), []).append(event)

    def moved(self, event: Moved) -> None:
        name = event.receiver_text.split("[")[0].split(".")[0]
        self._moved.setdefault((event.scope, name), []).append(event)

    def drafts(self) -> Iterator[Draft]:
        for key, bound in self._bound.items():
            if key[0].role is Role.TEST or key in self._moved:
                # What both arms gave is brought over by its name, or a part of it (fixture `encoded_in_arms`).
                continue
            brought = [one for one in bound if was_moved(provenance_of(one.value)) and device_of(one.value) != CPU]
            for left in bound:
                provenance = provenance_of(left.value)
                other = next((one for one in brought if exclude(one.arms, left.arms)), None)
                if device_of(left.value) != CPU or provenance is None or other is None or was_moved(provenance):
                    continue
                device = device_of(other.value) or UNKNOWN
                at = DraftStep(other.node, other.scope, "the other arm brings it over here", describe(device))
                found = draft_of(provenance.step, device, "the other arm", (at,), Confidence.MEDIUM, _CONSEQUENCE)
                yield replace(found, repair=Repair(Applicability.SUGGESTION, "bring it over, as the other arm does"))


_CONSEQUENCE = "the model that gets both is in one place"
