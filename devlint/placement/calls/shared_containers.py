"""Containers that lie in others: what is written into one of them is in those others too."""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Container, Value
from devlint.placement.domain.value_join import join_values
from devlint.records import replace

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.interpreter.interpreter import Interpreter


def change_in_others(interp: Interpreter, base: str, owner: Container, changed: Container) -> None:
    """``for group in groups.values(): group["mean"] = group["mean"] / n``: ``groups`` holds what is written there.

    Containers that one expression makes may be the same one: in the others it is what it was, or what it is now.
    ``base`` is the path that is written through.
    """
    if owner.node is None:
        return
    for path, value in interp.state.values.items():
        if path != base and isinstance(value, Container):
            whole = _with_changed(value, owner.node, changed)
            if whole is not value:
                interp.state.values[path] = whole


def _with_changed(whole: Container, node: cst.CSTNode, changed: Container) -> Container:
    """The container after one that lies in it, and that ``node`` makes, may have changed; itself if none does."""

    def after(item: Value) -> Value:
        if not isinstance(item, Container):
            return item
        return join_values(None, item, changed) if item.node is node else _with_changed(item, node, changed)

    items = tuple(map(after, whole.items))
    rest = after(whole.rest) if whole.rest is not None else None
    return whole if rest is whole.rest and all(map(is_, items, whole.items)) else replace(whole, items=items, rest=rest)
