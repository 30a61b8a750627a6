"""What a function hands back in one piece: the items of a tuple or dict, and the fields of a record."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.placement.domain.abstract_values import Container, Instance, Value


def parts_of(result: Value, several: bool = False) -> Iterator[Value]:
    """The values that a caller unpacks: of ``Output(scores, (hidden, cell))`` those of the inner tuple as well.

    ``several``: of a tuple also what a list is spread into, ``(None, *gradients)``.
    """
    for part in _held(result) or (result,):
        yield from _held(part) if isinstance(part, Container) and part.type == "tuple" else (part,)
    if several and isinstance(result, Container) and result.rest is not None:
        yield result.rest


def _held(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Container):
        return value.items
    if isinstance(value, Instance) and value.info is not None and not value.info.defines("__getitem__", "__iter__"):
        return tuple(held for _, held in value.details)
    return ()
