"""Whether a device is one arm of a choice of which the other is the CPU: `"cuda:0" if count > 0 else "cpu"`."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from devlint.drafts.wording import code_of
from devlint.repairs.bound_names import path_to

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun


def is_or_the_cpu(node: cst.CSTNode, begun: Begun | None) -> bool:
    """Whether a conditional expression of the definition takes the node, or the CPU."""
    import libcst as cst

    if begun is None or not isinstance(begun.node, cst.FunctionDef):
        return False
    path = path_to(begun.node, node)
    for outer, inner in pairwise(path):
        if isinstance(outer, cst.IfExp) and inner is not outer.test:
            other = outer.orelse if inner is outer.body else outer.body
            if "cpu" in code_of(other).lower():
                return True
    return False
