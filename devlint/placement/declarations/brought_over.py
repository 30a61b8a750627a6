"""Arguments that a definition brings over itself, before anything meets them."""

from __future__ import annotations

import libcst as cst

from devlint.placement.declarations.evidence_rows import ATTRIBUTES, MOVED
from devlint.placement.syntax.nodes import FunctionNode, descend

_TELLS_OF_ITSELF = frozenset({"shape", "size", "dim", "ndim", "device", "dtype", "is_cuda"})


def is_brought_over(node: FunctionNode, name: str) -> bool:
    """Whether the first use of an argument is a transfer; tests and what it tells of itself are none."""
    no_use: set[int] = set()
    for part in descend(node.body):
        if isinstance(part, cst.Attribute) and isinstance(part.value, cst.Name) and part.value.value == name:
            if ATTRIBUTES.get(part.attr.value) is MOVED:
                return True
            if part.attr.value in _TELLS_OF_ITSELF:
                no_use.add(id(part.value))
        elif isinstance(part, cst.AssignTarget):
            no_use.add(id(part.target))
        elif isinstance(part, cst.Comparison):
            no_use.add(id(part.left))
        elif isinstance(part, cst.Call) and isinstance(part.func, cst.Name) and part.func.value == "isinstance":
            no_use.update(id(argument.value) for argument in part.args[:1])
        elif isinstance(part, cst.Name) and part.value == name and id(part) not in no_use:
            return False
    return False
