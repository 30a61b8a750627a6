"""Definitions that fail on every device before a device matters: what is said of them is of low confidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.finding import Confidence
from devlint.placement.domain.events import CallRefused, Event

if TYPE_CHECKING:
    from devlint.drafts.draft import Draft
    from devlint.placement.domain.scope import Scope


class Refused:
    """What the calls of one file show that are refused whatever the device."""

    def __init__(self) -> None:
        self._definitions: set[tuple[str, str]] = set()
        """Path and qualified name."""
        self._classes: set[tuple[str, str]] = set()
        """Of those that cannot be built: the constructor makes such a call."""

    def watch(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, CallRefused):
                self._note(event.scope)
            yield event

    def _note(self, scope: Scope) -> None:
        self._definitions.add((scope.path, scope.qualname))
        if scope.class_name is not None and scope.qualname == f"{scope.class_name}.__init__":
            self._classes.add((scope.path, scope.class_name))

    def judged(self, draft: Draft) -> Draft:
        scope = draft.scope
        fails = any((scope.path, name) in self._definitions for name in _around(scope.qualname))
        fails = fails or (scope.path, scope.class_name) in self._classes
        return replace(draft, confidence=Confidence.LOW) if fails else draft


def _around(qualname: str) -> Iterator[str]:
    """A definition, and those that it stands in: they call it, and raise."""
    while qualname:
        yield qualname
        qualname = qualname.rpartition(".")[0]
