"""What becomes of the state of an optimizer beside what the optimizer itself does: part of DEV207."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.drafts.wording import code_of

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.domain.events import Called

_MOVERS = frozenset({"to", "cuda", "cpu", "move", "moved", "device", "place", "put"})
"""Words in the names of functions that bring what they are handed to a device."""


def loads_by_method(event: Called, owner: ClassInfo, optimizer: str, models: frozenset[str]) -> bool:
    """``self.resume(path)``: whether a method of the same object loads the state of ``self.optimizer``.

    Not one that moves the model, or that state, itself.
    """
    called, attribute = _attribute(code_of(event.call.node.func)), _attribute(optimizer)
    method = owner.method(called) if called and attribute else None
    if method is None:
        return False
    calls = method.calls_of_attributes
    if not any(_name(call) == "load_state_dict" for call in calls.get(attribute, ())):
        return False
    moved = any(_name(call) in _MOVERS for model in models for call in calls.get(_attribute(model), ()))
    return not moved and not moves_state(method.node, optimizer)


def moves_state(definition: cst.CSTNode, optimizer: str) -> bool:
    """Whether a definition goes through the state, or hands the optimizer to a function that moves by its name.

    ``for state in optimizer.state.values(): ...``; ``optimizer_to(optimizer, device)``.
    """
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    for node in descend(definition):
        if isinstance(node, cst.Attribute) and node.attr.value == "state" and code_of(node.value) == optimizer:
            return True
        moves = isinstance(node, cst.Call) and not _MOVERS.isdisjoint(_name(node).lower().split("_"))
        if moves and isinstance(node, cst.Call) and any(code_of(one.value) == optimizer for one in node.args):
            return True
    return False


def _name(call: cst.Call) -> str:
    import libcst as cst

    match call.func:
        case cst.Attribute(attr=cst.Name(value=name)) | cst.Name(value=name):
            return name
    return ""


def _attribute(text: str) -> str:
    """``optimizer`` of ``self.optimizer``; else nothing."""
    owner, _, name = text.partition(".")
    return name if owner == "self" and name.isidentifier() else ""
