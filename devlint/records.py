"""Dataclasses that are frozen for the type checker and cost nothing for it when the program runs.

A frozen dataclass sets each field by a call of ``object.__setattr__``, so that one is made three times as slowly, and
two more functions are compiled for each class at every start. A run makes millions of them. Nothing assigns to one:
the type checker sees each assignment, and refuses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:
    import dataclasses
    from operator import attrgetter

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, **settings: Any) -> Any:
        """As :func:`dataclasses.dataclass`; with ``frozen``, equal ones have the same hash, and that is all."""

        def made(cls: type) -> type:
            hashed = frozen and eq and vars(cls).get("__hash__") is None
            return dataclasses.dataclass(cls, eq=eq, unsafe_hash=hashed, **settings)

        return made if cls is None else made(cls)

    _values_of: dict[type, Any] = {}
    """By class: a function that gives the values of an object's fields, all at once."""

    def replace(one: Any, /, **changes: Any) -> Any:
        """As :func:`dataclasses.replace`, which takes four times as long. For classes of this module alone."""
        cls = type(one)
        values_of = _values_of.get(cls)
        if values_of is None:
            values_of = _values_of[cls] = _getter_of(cls)
        made = cls(*values_of(one))
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    def _getter_of(cls: type) -> Any:
        names = [field.name for field in dataclasses.fields(cls) if field.init]
        if len(names) > 1:
            return attrgetter(*names)
        return lambda one: [getattr(one, name) for name in names]
