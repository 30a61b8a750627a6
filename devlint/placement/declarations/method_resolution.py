"""The method resolution order of a class."""

from __future__ import annotations

from typing import TypeVar

Class = TypeVar("Class")


def c3_merge(orders: list[list[Class]], parents: list[Class]) -> list[Class]:
    """The C3 merge. If the bases have no consistent order, which Python rejects, the first list's head is taken."""
    lists = [order for order in [*orders, parents] if order]
    merged: list[Class] = []
    while lists:
        heads = (order[0] for order in lists)
        head = next((h for h in heads if not any(h in order[1:] for order in lists)), lists[0][0])
        merged.append(head)
        lists = [rest for order in lists if (rest := [c for c in order if c is not head])]
    return merged
