"""From events to drafts: each event is told to the rules that handle its type and are awake."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from devlint.placement.domain.events import Called, DeviceMismatch
from devlint.rules.registry import precedence, rule_classes

if TYPE_CHECKING:
    from devlint.drafts.draft import Draft
    from devlint.placement.domain.events import Event
    from devlint.rules.rule import Rule
    from devlint.rules.waking import Question

Handler = Callable[[Any], "Iterable[Draft]"]

Drafts = list[tuple["Rule", "Draft"]]
"""What the rules have to say of one file, each with its rule."""


def reported(events: Iterable[Event]) -> Iterator[tuple[Rule, Draft]]:
    """What fresh instances of all rules report of one file's events."""
    listeners = _Listeners()
    handlers, asleep, sleeping = listeners.handlers, listeners.asleep, listeners.sleeping
    past: list[Event] = []
    for event in events:
        kind = type(event)
        if kind is Called and (classes := _woken_by(event.name)):  # type: ignore[attr-defined]
            for rule in [one for one in map(sleeping.get, classes) if one is not None]:
                yield from listeners.wake(rule, past)
        if questions := asleep.get(kind):
            for rule, question in tuple(questions):
                if type(rule) in sleeping and question(event):
                    yield from listeners.wake(rule, past)
        for rule, handler in handlers.get(kind, ()):
            # Nearly all have nothing to say, and an empty tuple.
            if drafts := handler(event):
                for draft in drafts:
                    yield rule, draft
        if isinstance(event, DeviceMismatch):
            yield from listeners.claimed(event)
        past.append(event)
    for rule in listeners.rules:
        if type(rule) not in sleeping:
            for draft in rule.finish():
                yield rule, draft


@lru_cache(8192)
def _woken_by(name: str) -> tuple[type[Rule], ...]:
    """The rules that wake at a call of that name."""
    return tuple(cls for cls in rule_classes() if cls.sleeps and cls.wakes_at_call(name))


class _Listeners:
    """The rules of one file, and which of them are awake."""

    def __init__(self) -> None:
        self.rules = [cls() for cls in rule_classes()]
        self._places = {rule: place for place, rule in enumerate(self.rules)}
        self.sleeping: dict[type[Rule], Rule] = {type(rule): rule for rule in self.rules if rule.sleeps}
        self.handlers: dict[type[Event], list[tuple[Rule, Handler]]] = {}
        """Of the rules that are awake, in the order of the rules."""
        self.asleep: dict[type[Event], list[tuple[Rule, Question]]] = {}
        """Of the others: what wakes them."""
        for rule in self.rules:
            for kind, question in rule.wakes.items() if rule.sleeps else ():
                self.asleep.setdefault(kind, []).append((rule, question))
            for kind, name in () if rule.sleeps else rule.handlers.items():
                self.handlers.setdefault(kind, []).append((rule, getattr(rule, name)))
        by_code = {rule.code: rule for rule in self.rules}
        self._claimants = [by_code[code] for code in precedence().claim_order]

    def wake(self, rule: Rule, past: Iterable[Event]) -> Iterator[tuple[Rule, Draft]]:
        """Tell a rule what came before; it hears of what comes from here on."""
        del self.sleeping[type(rule)]
        own = {kind: getattr(rule, name) for kind, name in rule.handlers.items()}
        for kind in rule.wakes:
            self.asleep[kind] = [one for one in self.asleep[kind] if one[0] is not rule]
        for event in past:
            handler = own.get(type(event))
            if handler is not None:
                for draft in handler(event) or ():
                    yield rule, draft
        for kind, handler in own.items():
            listening = self.handlers.setdefault(kind, [])
            listening.append((rule, handler))
            listening.sort(key=lambda one: self._places[one[0]])

    def claimed(self, event: DeviceMismatch) -> Drafts:
        """The drafts of the first rule that claims a device mismatch."""
        for rule in self._claimants:
            drafts = list(rule.claim(event))
            if drafts:
                return [(rule, draft) for draft in drafts]
        return []
