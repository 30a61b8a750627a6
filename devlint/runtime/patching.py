"""Replacing attributes of modules and classes, and putting every one of them back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_ABSENT = object()


class Patches:
    """Attributes replaced so far. `restore` undoes them in reverse order, whatever happened in between."""

    def __init__(self) -> None:
        self._undo: list[tuple[Callable[..., object], tuple[Any, ...]]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace (or add) one attribute; what was inherited is not copied, only uncovered again."""
        before = vars(owner).get(name, _ABSENT)
        setattr(owner, name, value)
        if before is _ABSENT:
            self._undo.append((delattr, (owner, name)))
        else:
            self._undo.append((setattr, (owner, name, before)))

    def item(self, owner: dict[Any, Any], key: Any, value: Any) -> None:
        """Replace one entry of a dictionary that already has it."""
        self._undo.append((owner.__setitem__, (key, owner[key])))
        owner[key] = value

    def call(self, undo: Callable[[], None]) -> None:
        """Have something called on restoring, in its turn."""
        self._undo.append((undo, ()))

    def restore(self) -> None:
        try:
            while self._undo:
                undo, arguments = self._undo.pop()
                undo(*arguments)
        finally:
            if self._undo:
                # One failed: the others are undone all the same.
                self.restore()
