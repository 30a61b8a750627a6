"""Definitions that say themselves that they work on the host: what is assumed of their callers there is a guess."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.finding import Confidence
from devlint.placement.declarations.evidence_docstrings import docstring_of
from devlint.placement.domain.events import Begun, Event

if TYPE_CHECKING:
    from devlint.drafts.draft import Draft
    from devlint.placement.domain.scope import Scope
    from devlint.rules.rule import Rule

_ON_THE_HOST = re.compile(
    r"""
    \bon\s+(?:the\s+)?(?:CPU|host)\b
    |\bCPU[ -](?:\w+\ )?(?:tensors?|only|resident)\b|\b(?:CPU|host)\s+(?:memory|float(?:32|64)?|double)\b
    |\(CPU\)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ELSEWHERE = re.compile(r"\b(?:gpus?|cuda|accelerators?|mps|tpu)\b|\bnot\b|n't\b", re.IGNORECASE)
"""Who speaks of accelerators as well says where something is that may be anywhere; who denies something, nothing."""


def says_on_the_host(text: str) -> bool:
    """Whether a docstring says that what it speaks of is on the CPU, and does not speak of accelerators."""
    return _ON_THE_HOST.search(text) is not None and _ELSEWHERE.search(text) is None


class Documented:
    """The definitions of one file, and of those it is read with, that say in their docstring to be about the host."""

    def __init__(self) -> None:
        self._definitions: set[tuple[str, str]] = set()
        """Path and qualified name."""

    def watch(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, Begun) and says_on_the_host(docstring_of(event.node)):
                self._definitions.add(_key(event.scope))
            yield event

    def judged(self, rule: Rule, draft: Draft) -> Draft:
        """A draft about tensors of the callers: low where the definition says that they are on the CPU."""
        assumed = rule.of_callers_tensors and draft.confidence is Confidence.MEDIUM
        says = assumed and _key(draft.scope) in self._definitions
        return replace(draft, confidence=Confidence.LOW) if says else draft


def _key(scope: Scope) -> tuple[str, str]:
    return scope.path, scope.qualname
