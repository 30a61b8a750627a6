"""Which names a definition reads, and which ones its loops bind: gathered once, since each transfer in it asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import libcst as cst

from devlint.placement.syntax.nodes import FunctionNode, descend


def reads_of_names(node: FunctionNode) -> Mapping[str, int]:
    """How often a definition reads each name, including its nested definitions."""
    reads: Counter[str] = Counter()
    for child in descend(node):
        if type(child) is cst.Name:
            reads[child.value] += 1
        elif type(child) is cst.AssignTarget and type(child.target) is cst.Name:
            reads[child.target.value] -= 1
    return reads


def loop_variables(node: FunctionNode) -> frozenset[str]:
    """The names in the targets of ``for`` statements."""
    targets = (child.target for child in descend(node) if type(child) is cst.For)
    return frozenset(part.value for target in targets for part in descend(target) if type(part) is cst.Name)
