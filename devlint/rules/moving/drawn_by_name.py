"""Items of a loader's batch that are called what tensors are called: part of DEV201.

Graphs and encodings, which move in place, are called otherwise (fixture `drawn_by_name`), and arrays do not move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.declarations.evidence_conventions import draws_from_a_loader
from devlint.placement.declarations.evidence_names import names_a_sibling
from devlint.placement.domain.lattice import batch_of
from devlint.placement.syntax.nodes import descend

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Moved


def is_drawn_as_a_tensor(event: Moved, definition: cst.CSTNode) -> bool:
    """``x = batch["image"]; x.to(device)``. The batch itself, as the loop names it, may be an object of any kind."""
    batch = batch_of(getattr(event.receiver, "device", None))
    if batch is None or not draws_from_a_loader(batch.source):
        return False
    return names_a_sibling(_last_name(event.receiver_node)) and not _is_drawn_whole(event.receiver_text, definition)


def _last_name(node: cst.CSTNode) -> str:
    """``labels`` of ``labels``, ``batch.labels`` and ``batch["labels"]``."""
    import libcst as cst

    match node:
        case cst.Attribute(attr=cst.Name(value=name)) | cst.Name(value=name):
            return name
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]):
            return str(key.evaluated_value)
    return ""


def _is_drawn_whole(name: str, definition: cst.CSTNode) -> bool:
    """Whether a loop gives its items this name: ``for x in loader``, ``for step, x in enumerate(loader)``."""
    import libcst as cst

    for loop in descend(definition):
        match loop:
            case cst.For(target=cst.Name(value=target)):
                pass
            case cst.For(
                iter=cst.Call(func=cst.Name(value="enumerate")),
                target=cst.Tuple(elements=[_, cst.Element(value=cst.Name(value=target))]),
            ):
                pass
            case _:
                continue
        if target == name:
            return True
    return False
