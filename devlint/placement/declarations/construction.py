"""The methods of a class that are parts of its constructor."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Protocol, TypeVar

from devlint.source.outline import OwnNames


class Method(Protocol):
    """What is asked of a method here."""

    @property
    def name(self) -> str: ...

    @property
    def own(self) -> OwnNames: ...


AnyMethod = TypeVar("AnyMethod", bound=Method)

_CALLED_BY_OTHERS = frozenset({"forward", "to", "cuda"})
"""What the users of a class call, whoever mentions it in the class."""


def parts_of_constructor(
    methods: Mapping[str, AnyMethod], parts_above: Set[str] = frozenset()
) -> tuple[AnyMethod, ...]:
    """Methods that only ``__init__`` mentions, or only it and other such methods, in source order.

    One that it keeps, as in ``self.step = self._step_forward``, or registers a hook of is called later, by others.

    ``parts_above``: the names of those methods that override a part of a base's constructor: it calls them.
    """
    init = methods.get("__init__")
    if init is None and parts_above.isdisjoint(methods):
        return ()
    users: dict[str, set[str]] = {}
    for user in methods.values():
        for name in user.own.mentioned:
            # An override that calls the method it replaces is no other user.
            if name != user.name or name not in parts_above:
                users.setdefault(name, set()).add(user.name)
    kept = {name for user in methods.values() for name in user.own.kept}
    parts, waiting = {"__init__"}, [] if init is None else [init]
    overriding = [methods[name] for name in methods if name in parts_above]
    while waiting or overriding:
        mentioned = waiting.pop().own.mentioned if waiting else [overriding.pop().name]
        for name in mentioned:
            method = methods.get(name)
            if method is None or name in parts or name in _CALLED_BY_OTHERS or name in kept:
                continue
            # A method with another user is looked at again when that one has become a part.
            if users.get(name, set()) <= parts:
                parts.add(name)
                waiting.append(method)
    return tuple(method for name, method in methods.items() if name in parts and method is not init)
