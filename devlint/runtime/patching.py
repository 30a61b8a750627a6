"""Replacing attributes of modules and classes, and putting every one of them back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

_ABSENT = object()


class Patches:
    """Attributes replaced so far. `restore` undoes them in reverse order, whatever happened in between."""

    def __init__(self) -> None:
        self._undo = ExitStack()

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace (or add) one attribute; what was inherited is not copied, only uncovered again."""
        before = vars(owner).get(name, _ABSENT)
        setattr(owner, name, value)
        if before is _ABSENT:
            self._undo.callback(delattr, owner, name)
        else:
            self._undo.callback(setattr, owner, name, before)

    def item(self, owner: dict[Any, Any], key: Any, value: Any) -> None:
        """Replace one entry of a dictionary that already has it."""
        self._undo.callback(owner.__setitem__, key, owner[key])
        owner[key] = value

    def call(self, undo: Callable[[], None]) -> None:
        """Have something called on restoring, in its turn."""
        self._undo.callback(undo)

    def restore(self) -> None:
        self._undo.close()
