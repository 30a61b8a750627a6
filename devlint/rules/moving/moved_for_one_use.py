"""Arguments that are moved for one use and meet the same tensors as they came in another: part of DEV208."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import suffixed
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of, trace_of
from devlint.drafts.wording import code_of, describe_operand, device_of, failing_code
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Tensor
from devlint.placement.domain.lattice import CPU, UNKNOWN, SameAs, describe, is_of_parameter
from devlint.placement.operations.moved_for_one_use import is_as_it_came
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import DeviceMismatch, MismatchOperand, Moved

_Key = tuple[str, str]
"""A definition, and the key of an argument of it."""


_CASTS = ("type", "type_as")
"""`preds.type_as(labels)`, `(x > 0).type(p.type())`: they are written for the dtype."""


@dataclass(slots=True)
class MovedForOneUse:
    _moves: dict[_Key, list[Moved]] = field(default_factory=dict)
    _told: dict[_Key, Draft] = field(default_factory=dict)
    """By argument: one missing transfer shows in all that is computed without it."""

    def moved(self, event: Moved) -> None:
        device = device_of(event.receiver)
        if not is_of_parameter(device) or event.is_field or not isinstance(event.receiver, Tensor):
            return
        if not event.moves or event.method in _CASTS or event.target in (CPU, UNKNOWN, device):
            return
        self._moves.setdefault(_key(event, device), []).append(event)

    def claim(self, event: DeviceMismatch) -> Iterator[Draft]:
        for mine, theirs in ((event.offending, event.other), (event.other, event.offending)):
            device, there = device_of(mine.value), device_of(theirs.value)
            if not isinstance(device, SameAs) or not is_as_it_came(provenance_of(mine.value)):
                continue
            key = _key(event, device)
            move = next((one for one in self._moves.get(key, ()) if one.target == there), None)
            if move is not None:
                draft = self._told.setdefault(key, _draft(event, mine, move))
                yield replace(draft)
                return


def _key(event: Moved | DeviceMismatch, device: SameAs) -> _Key:
    return event.scope.qualname, device.symbol.key


def _draft(event: DeviceMismatch, mine: MismatchOperand, move: Moved) -> Draft:
    item = code_of(mine.node)
    trace = trace_of(event)
    moved = "is" if move.receiver_text == item else f"`{move.receiver_text}` is"
    words = f"`{move.receiver_text}` is moved here, for another use"
    step = DraftStep(move.node, move.scope, words, describe(move.target))
    named = code_of(move.named.node) if move.named is not None and move.method == "to" else ""
    repair = f"move it here as well: `{item}.to({named})`" if named else "move it here as well"
    return Draft(
        node=mine.node,
        scope=event.scope,
        severity=Severity.WARNING,
        message=f"{describe_operand(mine)} is used as it came, but {moved} moved to {describe(move.target)} "
        f"for another use; {failing_code(event)} fails when the two are apart",
        confidence=Confidence.LOW if event.scope.role is Role.TEST else Confidence.MEDIUM,
        trace=(*trace[:-1], step, trace[-1]),
        repair=Repair(Applicability.SUGGESTION, repair, suffixed(mine.node, f".to({named})") if named else ()),
    )
