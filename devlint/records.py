"""Dataclasses that are frozen for the type checker and cost nothing for it when the program runs.

A frozen dataclass sets each field by a call of ``object.__setattr__``, so that one is made three times as slowly, and
two more functions are compiled for each class at every start. A run makes millions of them. Nothing assigns to one:
the type checker sees each assignment, and refuses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    import dataclasses

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, **settings: Any) -> Any:
        """As :func:`dataclasses.dataclass`; with ``frozen``, equal ones have the same hash, and that is all."""

        def made(cls: type) -> type:
            hashed = frozen and eq and vars(cls).get("__hash__") is None
            return dataclasses.dataclass(cls, eq=eq, unsafe_hash=hashed, **settings)

        return made if cls is None else made(cls)
