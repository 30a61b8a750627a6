"""Probes: a tensor of zeros is sent through layers, and only the shape of what comes out is read.

Whoever needs a shape needs it to build the next layer, when nothing has been moved yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

_SHAPE = frozenset({"shape", "size", "numel", "ndim", "dim", "nelement"})
_THE_SAME = frozenset({"data", "T", "mT"})
"""Attributes of a tensor that are one, with as many elements."""
_ROUNDS = 8
"""Names that a probe may go through, one after the other."""


def is_shape_probe(function: cst.CSTNode | None, creation: cst.CSTNode) -> bool:
    """Whether all that the function reads of what becomes of this creation, passed to a call, is its shape."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend, semantic_children

    if not isinstance(function, cst.FunctionDef):
        return False
    parents = {id(child): node for node in descend(function.body) for child in semantic_children(node)}
    passed, pending, seen = False, [creation], set[str]()
    while pending:
        node: cst.CSTNode | None = pending.pop()
        while node is not None:
            parent = parents.get(id(node))
            if isinstance(parent, cst.Attribute) and parent.attr.value in _SHAPE:
                break
            if isinstance(parent, cst.Attribute) and parent.attr.value in _THE_SAME:
                node = parent
                continue
            called = parents.get(id(parent))
            if isinstance(parent, cst.Attribute) and isinstance(called, cst.Call) and called.func is parent:
                node = called
                continue
            if isinstance(parent, cst.Arg):
                passed, node = True, parents.get(id(parent))
                continue
            name = _assigned(parent)
            if name is None or len(seen) > _ROUNDS:
                return False
            if name not in seen:
                seen.add(name)
                pending += (read for read in descend(function.body) if _reads(read, name, parents.get(id(read))))
            break
        else:
            return False
    return passed


def _assigned(parent: cst.CSTNode | None) -> str | None:
    """The one name that is bound to a value, or to its items in turn, by what it stands in."""
    import libcst as cst

    match parent:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            return name
        case cst.For(target=cst.Name(value=name)) | cst.CompFor(target=cst.Name(value=name)):
            # `sum(one.shape[1] for one in features.values())`
            return name
        case _:
            return None


def _reads(node: cst.CSTNode, name: str, parent: cst.CSTNode | None) -> bool:
    import libcst as cst

    if not isinstance(node, cst.Name) or node.value != name or isinstance(parent, cst.AssignTarget):
        return False
    named = isinstance(parent, cst.Arg) and parent.keyword is node
    return not named and not (isinstance(parent, cst.Attribute) and parent.attr is node)
