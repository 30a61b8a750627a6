"""The methods of a rule that handle events. A method that looks like a handler and is none is an error at import.

A handler is named after its event in snake case and takes one parameter, annotated with the type of that event:
``def device_named(self, event: DeviceNamed)``. Name and annotation are checked against each other when the class of the
rule is created, because a handler that is never called finds nothing and fails no run.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType, MappingProxyType
from typing import NoReturn

from devlint.placement.domain import events
from devlint.placement.domain.events import Event


def _event_types() -> Iterator[tuple[str, type[Event]]]:
    for name, value in vars(events).items():
        if isinstance(value, type) and issubclass(value, Event) and value is not Event:
            yield re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(), value


EVENT_OF_HANDLER: Mapping[str, type[Event]] = MappingProxyType(dict(_event_types()))
"""Every event type by the name of its handlers: ``device_named`` handles DeviceNamed."""


def handlers_of(rule: type, base: type) -> dict[type[Event], str]:
    """The names of a rule's handlers by the event type that each handles, inherited handlers included.

    ``base`` is the class all rules derive from; a rule may give its public names a value of its own. Every other public
    name of a rule has to be a handler. Raises TypeError, with file and line, for one that is not.
    """
    declared = {*dir(base), *base.__annotations__}
    found: dict[type[Event], str] = {}
    for owner in rule.__mro__:
        if owner in base.__mro__:
            continue
        for name in dict.fromkeys((*vars(owner), *vars(owner).get("__annotations__", ()))):
            if not name.startswith("_") and name not in declared:
                found[_event_handled(owner, name, declared)] = name
    return found


def _event_handled(owner: type, name: str, declared: set[str]) -> type[Event]:
    """The event type that a public name of a rule handles, by its name and by its annotation alike."""
    function = vars(owner).get(name)
    if not isinstance(function, FunctionType):
        _reject(owner, name, f"is no method; {_nearest(name, declared)}")
    event = EVENT_OF_HANDLER.get(name)
    annotated = _annotated_event(function)
    if event is None and annotated is None:
        _reject(owner, name, f"handles no event; {_nearest(name, declared)}")
    if event is None:
        handler = next(handler for handler, known in EVENT_OF_HANDLER.items() if known is annotated)
        _reject(owner, name, f"takes the event {annotated.__name__ if annotated else ''}; name it `{handler}`")
    if annotated is not event:
        _reject(owner, name, f"is the handler of {event.__name__}; write `def {name}(self, event: {event.__name__})`")
    return event


def _annotated_event(function: FunctionType) -> type[Event] | None:
    """The type of a handler's only parameter; None where the parameters, or the annotation, are not a handler's."""
    code = function.__code__
    takes_more = code.co_kwonlyargcount or code.co_flags & _UNPACKS
    if code.co_argcount != 2 or takes_more:
        return None
    annotation = function.__annotations__.get(code.co_varnames[1], "")
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    name = written.strip("\"' ").rsplit(".", 1)[-1]
    return next((event for event in EVENT_OF_HANDLER.values() if event.__name__ == name), None)


_UNPACKS = 0x04 | 0x08
"""The flags of a function's code that say it takes ``*args`` or ``**kwargs``."""


def _nearest(name: str, declared: set[str]) -> str:
    """What the author may have meant, and what to do where nothing of it was meant."""
    import difflib

    public = [known for known in declared if not known.startswith("_")]
    (nearest,) = difflib.get_close_matches(name, [*EVENT_OF_HANDLER, *sorted(public)], n=1, cutoff=0.0)
    event = EVENT_OF_HANDLER.get(nearest)
    meant = f"the nearest event is {event.__name__}, handled by `{nearest}`" if event else f"the nearest is `{nearest}`"
    return f"{meant}. What is no handler begins with an underscore: `_{name}`"


def _reject(owner: type, name: str, reason: str) -> NoReturn:
    value = vars(owner).get(name)
    if isinstance(value, FunctionType):
        place = f"{value.__code__.co_filename}:{value.__code__.co_firstlineno}"
    else:
        place = getattr(sys.modules.get(owner.__module__), "__file__", None) or owner.__module__
    raise TypeError(f"{place}: {owner.__name__}.{name} {reason}")
