"""What is for machines without an accelerator, and goes to one: part of DEV312.

Either to another one, ``"cuda" if torch.cuda.is_available() else "mps"``, or both arms of the question do the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import ArmsAlike, Begun, Called, LeftToAnother
    from devlint.placement.domain.scope import Scope

_OF_A_SYSTEM = re.compile("platform|darwin|system|mac|apple|arm64|mps|xpu", re.IGNORECASE)


@dataclass(slots=True)
class LeftToOthers:
    _found: list[LeftToAnother] = field(default_factory=list)
    _asked: set[tuple[Scope, str]] = field(default_factory=set)
    """Where the other accelerator is asked for, before or behind."""
    _begun: dict[Scope, Begun] = field(default_factory=dict)
    _alike: list[ArmsAlike] = field(default_factory=list)

    def begun(self, event: Begun) -> None:
        self._begun[event.scope] = event

    def called(self, event: Called) -> None:
        for kind in ("mps", "xpu"):
            if f".{kind}." in event.name:
                self._asked.add((event.scope, kind))

    def left(self, event: LeftToAnother) -> None:
        self._found.append(event)

    def alike(self, event: ArmsAlike) -> None:
        self._alike.append(event)

    def _is_asked_for(self, event: LeftToAnother) -> bool:
        begun = self._begun.get(event.scope)
        # What stands behind a test that is decided is not called: `not cuda.is_available() and not mps.is_available()`.
        probe = re.compile(rf"\b{event.kind}\.is_\w+\(|\bhas_{event.kind}\b|\b{event.kind}_available\b")
        in_words = begun is not None and probe.search(code_of(begun.node)) is not None
        return in_words or (event.scope, event.kind) in self._asked

    def drafts(self) -> Iterator[Draft]:
        yield from map(_of_both_arms, self._alike)
        for event in self._found:
            # Who has asked for the system knows what it comes with.
            of_a_system = any(_OF_A_SYSTEM.search(decided.guard.text) for decided in event.arms)
            if of_a_system or self._is_asked_for(event) or event.scope.role is Role.TEST:
                continue
            yield Draft(
                node=event.node,
                scope=event.scope,
                message=f"`{event.kind}` is taken wherever there is no CUDA, and nothing asks for it: a machine with "
                "neither fails",
                confidence=Confidence.MEDIUM,
                repair=Repair(Applicability.SUGGESTION, f"ask for `{event.kind}` too, and fall back to the CPU"),
            )


def _of_both_arms(event: ArmsAlike) -> Draft:
    return Draft(
        node=event.node,
        scope=event.scope,
        message=f"{quoted(event.node, 'the call')} needs an accelerator, and both arms of `{code_of(event.test)}` do "
        "the same: there is none in this one",
        confidence=Confidence.HIGH,
        trace=(DraftStep(event.test, event.scope, "asked here"),),
        repair=Repair(Applicability.SUGGESTION, "leave it on the CPU in this arm"),
    )
