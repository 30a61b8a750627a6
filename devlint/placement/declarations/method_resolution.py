"""The order in which the methods of a class are looked up among its ancestors."""

from __future__ import annotations

from typing import TypeVar

Class = TypeVar("Class")


def c3_merge(orders: list[list[Class]], parents: list[Class]) -> list[Class]:
    """The C3 merge. Where the bases contradict each other, which Python refuses, the first order wins."""
    lists = [order for order in [*orders, parents] if order]
    merged: list[Class] = []
    while lists:
        heads = (order[0] for order in lists)
        head = next((h for h in heads if not any(h in order[1:] for order in lists)), lists[0][0])
        merged.append(head)
        lists = [rest for order in lists if (rest := [c for c in order if c is not head])]
    return merged
