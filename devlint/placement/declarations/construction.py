"""The methods of a class that are parts of its constructor."""

from __future__ import annotations

from collections.abc import Mapping
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


def parts_of_constructor(methods: Mapping[str, AnyMethod]) -> tuple[AnyMethod, ...]:
    """Methods that only ``__init__`` mentions, or only it and other such methods, in source order."""
    init = methods.get("__init__")
    if init is None:
        return ()
    users: dict[str, set[str]] = {}
    for user in methods.values():
        for name in user.own.mentioned:
            users.setdefault(name, set()).add(user.name)
    parts, waiting = {init.name}, [init]
    while waiting:
        for name in waiting.pop().own.mentioned:
            method = methods.get(name)
            if method is None or name in parts or name in _CALLED_BY_OTHERS:
                continue
            # A method with another user is looked at again when that one has become a part.
            if users[name] <= parts:
                parts.add(name)
                waiting.append(method)
    return tuple(method for name, method in methods.items() if name in parts and method is not init)
