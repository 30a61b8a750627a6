"""Calls that leave a device to a default such as `"cuda"`, where the caller has a device of its own: DEV308."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.changes import with_argument
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.rules.naming.told_elsewhere import is_placed_later
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import LeftToAccelerator, Moved, Stored
    from devlint.placement.domain.scope import Scope


@dataclass(slots=True)
class LeftToAccelerators:
    """The calls of one file that leave a device parameter to an accelerator."""

    _calls: list[LeftToAccelerator] = field(default_factory=list)
    _kept: dict[int, tuple[Scope, str]] = field(default_factory=dict)
    """By the identity of a value's node: where it is stored, and under which name."""
    _moved: set[tuple[Scope, str]] = field(default_factory=set)

    def note(self, event: LeftToAccelerator) -> None:
        self._calls.append(event)

    def stored(self, event: Stored) -> None:
        if event.value_node is not None:
            self._kept[id(event.value_node)] = (event.scope, event.target)

    def moved(self, event: Moved) -> None:
        self._moved.add((event.scope, event.receiver_text))

    def drafts(self) -> Iterator[Draft]:
        yield from map(_draft, self._told())

    def at_hand(self) -> set[tuple[str, str]]:
        """What these calls leave unread: definitions, each with the device that it has at hand."""
        return {(event.scope.qualname, event.at_hand) for event in self._told()}

    def _told(self) -> Iterator[LeftToAccelerator]:
        for event in self._calls:
            scope = event.scope
            if scope.role in (Role.TEST, Role.BENCHMARK) or scope.setting is Setting.HOST:
                continue
            # What a class is told of devices says more than its name (`GPUDriveEnv(device="cpu")`).
            named = scope.qualname.rpartition(".")[2] if event.at_hand.startswith("self.") else scope.qualname
            if not is_named_for_accelerator(named) and (event.raises or not self._is_placed_later(event)):
                yield event

    def _is_placed_later(self, event: LeftToAccelerator) -> bool:
        """Whether what the call gives is brought elsewhere afterwards."""
        import libcst as cst

        if self._kept.get(id(event.node)) in self._moved:
            return True
        definition = event.around
        if not isinstance(definition, (cst.FunctionDef, cst.Module)):
            return False
        # Given back as it is, it stays where the default put it, or needs an accelerator that is not there.
        return is_placed_later(definition, event.node, given_back=False)


def _draft(event: LeftToAccelerator) -> Draft:
    import libcst as cst

    changes = with_argument(event.node, event.parameter, event.at_hand) if isinstance(event.node, cst.Call) else ()
    return Draft(
        node=event.node,
        scope=event.scope,
        severity=Severity.WARNING,
        message=f"{quoted(event.node, f'this call of `{event.function}`')} leaves `{event.parameter}` to its default, "
        f"{event.default}, whatever `{event.at_hand}` says",
        confidence=Confidence.MEDIUM,
        trace=(DraftStep(event.node, event.scope, "left out here"),),
        repair=Repair(Applicability.SUGGESTION, f"hand it on: `{event.parameter}={event.at_hand}`", changes),
    )
