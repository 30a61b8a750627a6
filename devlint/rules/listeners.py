"""From events to drafts: each event is told to the rules that handle its type and are awake."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from devlint.placement.domain.events import Called, DeviceMismatch
from devlint.rules.registry import precedence, rule_classes
from devlint.rules.rule import Rule

if TYPE_CHECKING:
    from devlint.drafts.draft import Draft
    from devlint.placement.domain.events import Event
    from devlint.rules.waking import Question

Handler = Callable[[Any], "Iterable[Draft]"]

Drafts = list[tuple["Rule", "Draft"]]
"""What the rules have to say of one file, each with its rule."""


def reported(events: Iterable[Event]) -> Iterator[tuple[Rule, Draft]]:
    """What fresh instances of all rules report of one file's events."""
    listeners = _Listeners()
    handlers, asleep, awake = listeners.handlers, listeners.asleep, listeners.awake
    past: list[Event] = []
    for event in events:
        kind = type(event)
        if kind is Called and (classes := _woken_by(event.name)):  # type: ignore[attr-defined]
            for cls in classes:
                if cls not in awake:
                    yield from listeners.wake(cls, past)
        if questions := asleep.get(kind):
            for cls, question in questions:
                if question(event):
                    yield from listeners.wake(cls, past)
        for rule, handler in handlers.get(kind, ()):
            # Nearly all have nothing to say, and an empty tuple.
            if drafts := handler(event):
                for draft in drafts:
                    yield rule, draft
        if isinstance(event, DeviceMismatch):
            yield from listeners.claimed(event)
        past.append(event)
    yield from listeners.finished()


@lru_cache(8192)
def _woken_by(name: str) -> tuple[type[Rule], ...]:
    """The rules that wake at a call of that name."""
    return tuple(cls for cls in _waking_at_calls() if cls.wakes_at_call(name))


@cache
def _waking_at_calls() -> tuple[type[Rule], ...]:
    return tuple(cls for cls in rule_classes() if cls.wakes_at_call is not Rule.wakes_at_call)


@cache
def _claimants() -> tuple[type[Rule], ...]:
    """The rules that claim mismatches, in the order in which they are asked."""
    by_code = {cls.code: cls for cls in rule_classes()}
    return tuple(by_code[code] for code in precedence().claim_order)


class _Listeners:
    """The rules of one file, and which of them are awake."""

    def __init__(self) -> None:
        self.awake: dict[type[Rule], Rule] = {}
        self.handlers: dict[type[Event], list[tuple[Rule, Handler]]] = {}
        """Of the rules that are awake, in the order of the rules."""
        self.asleep: dict[type[Event], list[tuple[type[Rule], Question]]] = {}
        """Of the others: what wakes them."""
        for cls in rule_classes():
            if cls.sleeps:
                for kind, question in cls.wakes.items():
                    self.asleep.setdefault(kind, []).append((cls, question))
            else:
                rule = self.awake[cls] = cls()
                for kind, name in cls.handlers.items():
                    self.handlers.setdefault(kind, []).append((rule, getattr(rule, name)))

    def wake(self, cls: type[Rule], past: Iterable[Event]) -> Iterator[tuple[Rule, Draft]]:
        """Tell a rule what came before; it hears of what comes from here on."""
        rule = self.awake[cls] = cls()
        own = {kind: getattr(rule, name) for kind, name in cls.handlers.items()}
        for kind in cls.wakes:
            self.asleep[kind] = [one for one in self.asleep[kind] if one[0] is not cls]
        for event in past:
            handler = own.get(type(event))
            if handler is not None:
                for draft in handler(event) or ():
                    yield rule, draft
        for kind, handler in own.items():
            listening = self.handlers.setdefault(kind, [])
            listening.append((rule, handler))
            listening.sort(key=lambda one: one[0].code)

    def claimed(self, event: DeviceMismatch) -> Drafts:
        """The drafts of the first rule that claims a device mismatch."""
        for cls in _claimants():
            # Whatever claims wakes at the first of them.
            rule = self.awake[cls]
            drafts = list(rule.claim(event))
            if drafts:
                return [(rule, draft) for draft in drafts]
        return []

    def finished(self) -> Iterator[tuple[Rule, Draft]]:
        """What the rules know only after the last event."""
        for cls in rule_classes():
            if cls in self.awake:
                rule = self.awake[cls]
                for draft in rule.finish():
                    yield rule, draft
