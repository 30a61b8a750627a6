"""Conditions that ask which framework a program works with: what is no PyTorch has no tensors of PyTorch's."""

from __future__ import annotations

import libcst as cst

from devlint.placement.declarations.known_classes import OTHER_FRAMEWORKS
from devlint.placement.syntax.nodes import dotted, literal

_TORCH = frozenset({"pt", "torch", "pytorch"})
_OTHERS = OTHER_FRAMEWORKS | {"tf", "tf2"}


def is_of_torch(node: cst.Comparison) -> bool | None:
    """``framework == "pt"``, ``self.framework != "tf"``: its outcome with PyTorch; None for any other comparison."""
    operator, right = node.comparisons[0].operator, node.comparisons[0].comparator
    if not isinstance(operator, (cst.Equal, cst.NotEqual)) or not isinstance(right, cst.SimpleString):
        return None
    name = (dotted(node.left) or "").rpartition(".")[2]
    if name != "framework":
        return None
    spelled = str(literal(right)).lower()
    if spelled not in _TORCH and spelled not in _OTHERS:
        return None
    return (spelled in _TORCH) is isinstance(operator, cst.Equal)
