"""Attributes of an object that the code around it stores: ``self.buffer.x = self.buffer.x.to(d)``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.syntax.nodes import FunctionNode, descend, path_of

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def is_stored_outside(interp: Interpreter, attribute: cst.Attribute) -> bool:
    """Whether a method of the class that keeps the object replaces this attribute of it."""
    path = path_of(attribute)
    return path is not None and path.startswith("self.") and path in _stored(interp, path.split(".")[1])


def replaces_attributes(interp: Interpreter, owner: cst.BaseExpression) -> bool:
    """Whether the running definition, or a method of the class that keeps the object, replaces an attribute of it."""
    path = path_of(owner)
    if path is None:
        return False
    within = f"{path}."
    if any(stored.startswith(within) for stored in interp.state.values):
        return True
    return path.startswith("self.") and any(one.startswith(within) for one in _stored(interp, path.split(".")[1]))


def _stored(interp: Interpreter, kept: str) -> Iterator[str]:
    """What the methods of the running class assign to, of those that mention what it keeps by this name."""
    holder = interp.info.owner if interp.info is not None else None
    for method in holder.mentioning(kept) if holder is not None else ():
        yield from method.find(_assigned)


def _assigned(node: FunctionNode) -> tuple[str, ...]:
    targets = (path_of(child.target) for child in descend(node.body) if isinstance(child, cst.AssignTarget))
    return tuple(path for path in targets if path is not None)
