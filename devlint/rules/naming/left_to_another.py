"""What is for machines without an accelerator, and goes to one: part of DEV312.

Either to another one, ``"cuda" if torch.cuda.is_available() else "mps"``, or both arms of the question do the same, or
what is for those who asked for none goes there, ``if use_cuda: ... else: x = x.cuda()``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.rules.current_device import goes_to_current
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import ArmsAlike, Begun, Called, LeftToAnother, Moved
    from devlint.placement.domain.lattice import Decided
    from devlint.placement.domain.scope import Scope

_OF_A_SYSTEM = re.compile("platform|darwin|system|mac|apple|arm64|mps|xpu", re.IGNORECASE)


@dataclass(slots=True)
class LeftToOthers:
    _found: list[LeftToAnother] = field(default_factory=list)
    _asked: set[tuple[Scope, str]] = field(default_factory=set)
    """Where the other accelerator is asked for, before or behind."""
    _begun: dict[Scope, Begun] = field(default_factory=dict)
    _alike: list[ArmsAlike] = field(default_factory=list)
    _excluded: list[tuple[Moved, str]] = field(default_factory=list)
    """Transfers to the accelerator where a condition says that there is none, and that condition."""

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

    def moved(self, event: Moved) -> None:
        if goes_to_current(event):
            said = next((one for one in event.arms if _says_none(one)), None)
            if said is not None:
                self._excluded.append((event, said.guard.text))

    def _is_asked_for(self, event: LeftToAnother) -> bool:
        begun = self._begun.get(event.scope)
        # What stands behind a test that is decided is not called: `not cuda.is_available() and not mps.is_available()`.
        probe = re.compile(rf"\b{event.kind}\.is_\w+\(|\bhas_{event.kind}\b|\b{event.kind}_available\b")
        in_words = begun is not None and probe.search(code_of(begun.node)) is not None
        return in_words or (event.scope, event.kind) in self._asked

    def drafts(self) -> Iterator[Draft]:
        yield from map(_of_both_arms, self._alike)
        told = {event.scope for event in self._alike}
        for moved, condition in self._excluded:
            contract = is_named_for_accelerator(moved.scope.qualname) or moved.scope.role is Role.TEST
            if moved.scope not in told and not contract:
                told.add(moved.scope)
                yield _of_excluded(moved, condition)
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


_SWITCH = re.compile(r"(?:\w+\.)*(?:use_cuda|use_gpu|with_cuda|on_cuda|to_cuda|cuda)")
_ASKED_FOR = r"(?:(?:self|args|opts?|cfg|config)\.)?\w*device(?:\.type)?"
"""A device that somebody said; `x.device` says where something is, which may be the reason to move it."""
_IS_CUDA = re.compile(rf"""{_ASKED_FOR} == ["']cuda["']|["']cuda["'] in {_ASKED_FOR}""")
_IS_CPU = re.compile(rf"""{_ASKED_FOR} == ["']cpu["']|["']cpu["'] in {_ASKED_FOR}""")


def _says_none(decided: Decided) -> bool:
    """``not use_cuda``, ``device.type == "cpu"``: whoever comes here works without CUDA."""
    text = decided.guard.text
    if decided.holds:
        return _IS_CPU.fullmatch(text) is not None
    return _SWITCH.fullmatch(text) is not None or _IS_CUDA.fullmatch(text) is not None


def _of_excluded(event: Moved, condition: str) -> Draft:
    return Draft(
        node=event.node,
        scope=event.scope,
        message=f"{quoted(event.node, 'the transfer')} goes to CUDA where `{condition}` says that none is in use",
        confidence=Confidence.MEDIUM,
        repair=Repair(Applicability.SUGGESTION, "leave it on the CPU in this arm"),
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
