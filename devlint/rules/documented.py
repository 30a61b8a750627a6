"""Definitions that say themselves that they work on the host, in their docstring or by their name.

What is assumed of their callers there is a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.trace import provenance_of
from devlint.finding import Confidence
from devlint.placement.declarations.evidence_docstrings import docstring_of
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.domain.events import Begun, Event, Stored
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import works_on_cpu_by_name

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

_REFUSES = re.compile(r"\bnot\s+on\s+the\s+(?:CPU|host)\s+(?:raises?|fails?|is\s+refused)\b", re.IGNORECASE)
"""A contract: who calls it brings tensors to the CPU, or gets the error that it tells of."""


def says_on_the_host(text: str) -> bool:
    """Whether a docstring says that what it speaks of is on the CPU, and does not speak of accelerators."""
    if _REFUSES.search(text) is not None:
        return True
    return _ON_THE_HOST.search(text) is not None and _ELSEWHERE.search(text) is None


class Documented:
    """The definitions of one file, and of those it is read with, that say to be about the host.

    So do the methods of an object whose constructor keeps on the CPU what it was given, unless it moves as modules do.
    """

    def __init__(self) -> None:
        self._definitions: set[tuple[str, str]] = set()
        """Path and qualified name."""
        self._plain: set[tuple[str, str]] = set()
        """Constructors of objects that nobody moves."""
        self._classes: set[tuple[str, str | None]] = set()

    def watch(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, Begun):
                self._begun(event)
            elif isinstance(event, Stored) and _key(event.scope) in self._plain and _keeps_on_the_host(event):
                self._classes.add((event.scope.path, event.scope.class_name))
            yield event

    def _begun(self, event: Begun) -> None:
        name = event.scope.qualname.rpartition(".")[2]
        if says_on_the_host(docstring_of(event.node)) or works_on_cpu_by_name(name):
            self._definitions.add(_key(event.scope))
        owner = event.owner
        built = event.scope.setting is Setting.CONSTRUCTION and owner is not None and owner.kind is ClassKind.PLAIN
        if built and owner is not None and not owner.defines("to", "cuda"):
            self._plain.add(_key(event.scope))

    def judged(self, rule: Rule, draft: Draft) -> Draft:
        """A draft about tensors of the callers: low where the definition says that they are on the CPU."""
        assumed = rule.of_callers_tensors and draft.confidence is Confidence.MEDIUM
        scope = draft.scope
        says = assumed and (self._is_documented(scope) or (scope.path, scope.class_name) in self._classes)
        return replace(draft, confidence=Confidence.LOW) if says else draft

    def _is_documented(self, scope: Scope) -> bool:
        """Itself, or a definition in which it stands."""
        parts = scope.qualname.split(".")
        return any((scope.path, ".".join(parts[:count])) in self._definitions for count in range(len(parts), 0, -1))


def _keeps_on_the_host(event: Stored) -> bool:
    """``self.values = values.cpu()``: what was somewhere else is kept on the CPU."""
    way = provenance_of(event.value) if event.target.startswith("self.") else None
    moved = way.find(StepKind.MOVED) if way is not None else None
    return moved is not None and moved.device == CPU and moved.scope == event.scope


def _key(scope: Scope) -> tuple[str, str]:
    return scope.path, scope.qualname
