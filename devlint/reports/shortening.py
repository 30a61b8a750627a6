"""What is kept of something longer than its reader takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def ends(items: Sequence[Item], most: int) -> list[Item]:
    """At most ``most`` of some items: where they begin and where they end."""
    if len(items) <= most:
        return list(items)
    return [*items[: most // 2], *items[len(items) - (most - most // 2) :]]


def clipped(text: str, most: int) -> str:
    """A text of at most ``most`` characters."""
    return text if len(text) <= most else text[: most - 3].rstrip() + "..."
