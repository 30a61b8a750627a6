"""Placeholders that a test of their shape replaces: what passes the test was put there by its body before.

grid = self.grids[level]
if grid.shape[2:4] != x.shape[2:4]:
    grid = self.grids[level] = make_grid(x)
"""

from __future__ import annotations

import libcst as cst

from devlint.placement.syntax.nodes import body_of


def replaced_for_its_shape(node: cst.If) -> str:
    """``if grid.shape != x.shape: grid = ...``: what fits was made here before, and no placeholder fits.

    The name; empty where the test is another one, or the body does not assign it. Fixture `replaced_for_their_shape`.
    """
    match node.test:
        case cst.Comparison(left=asked, comparisons=[cst.ComparisonTarget(operator=cst.NotEqual())]):
            while isinstance(asked, (cst.Subscript, cst.Call)):
                asked = asked.value if isinstance(asked, cst.Subscript) else asked.func
        case _:
            return ""
    match asked:
        case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="shape" | "size")):
            assigned = (one for one in body_of(node.body) if type(one) is cst.Assign)
            targets = (target.target for one in assigned for target in one.targets)
            return name if any(type(one) is cst.Name and one.value == name for one in targets) else ""
        case _:
            return ""
