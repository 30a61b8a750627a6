"""Lists that begin as bare creations, one for each item, and get the caller's tensors where the data has any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Container, Evidence, Tensor, Value
from devlint.placement.domain.lattice import SameAs, leaves
from devlint.rules.meeting.arms import Arm, is_placed, made_here

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Event, Stored

Key = tuple[str, str]
"""A definition and the name of a list in it."""


class FilledLists:
    """``output = [torch.zeros(0, 6)] * n``, then ``output[i] = boxes`` for some ``i``: what nobody replaces is left."""

    def __init__(self) -> None:
        self._filled: dict[Key, Arm] = {}
        self._replaced: dict[Key, Arm] = {}
        self._loops: list[cst.CSTNode] = []

    def entered(self, loop: cst.CSTNode) -> None:
        self._loops.append(loop)

    def left(self) -> None:
        self._loops.pop()

    def stored(self, event: Stored) -> None:
        import libcst as cst

        definition = event.scope.qualname
        if isinstance(event.node, cst.Name):
            step = _item_made_here(event, event.value)
            if step is not None:
                self._filled[definition, event.node.value] = step
            else:
                self._filled.pop((definition, event.node.value), None)
            self._replaced.pop((definition, event.node.value), None)
        elif isinstance(event.node, cst.Subscript) and isinstance(event.node.value, cst.Name):
            key = definition, event.node.value.value
            if key not in self._filled or event.attribute is not None or not self._leaves_some(event.node):
                return
            if isinstance(event.value, Tensor) and event.value.evidence is Evidence.CERTAIN:
                device = event.value.device
                if all(isinstance(leaf, SameAs) or is_placed(leaf) for leaf in leaves(device)):
                    self._replaced[key] = Arm(event, device)

    def arms(self, event: Event, node: cst.CSTNode | None) -> list[Arm]:
        """Both arms of the list of that name; none if it is not such a list."""
        import libcst as cst

        key = event.scope.qualname, node.value if isinstance(node, cst.Name) else ""
        return [self._filled[key], self._replaced[key]] if key in self._filled and key in self._replaced else []

    def _leaves_some(self, target: cst.Subscript) -> bool:
        """Whether an iteration of the loop may end without the store (fixture `filled_lists`)."""
        import libcst as cst

        from devlint.placement.syntax.nodes import body_of, descend

        loop = self._loops[-1] if self._loops else None
        if not isinstance(loop, (cst.For, cst.While)):
            return False
        for statement in body_of(loop.body):
            inside = list(descend(statement, into_definitions=False))
            if isinstance(statement, cst.Assign):
                if any(child is target for child in inside):
                    return False
            elif any(child is target or isinstance(child, (cst.Continue, cst.Break)) for child in inside):
                return True
        return False


def _item_made_here(event: Event, value: Value) -> Arm | None:
    """The creation that every item of a new list is; None if they are something else."""
    if not isinstance(value, Container) or value.keys is not None or value.type != "list":
        return None
    made = [made_here(event, item) for item in value.values]
    first = made[0] if made else None
    if first is None or any(step is None or step.node is not first.node for step in made):
        return None
    item = value.values[0]
    assert isinstance(item, Tensor)
    return Arm(event, item.device, first)
