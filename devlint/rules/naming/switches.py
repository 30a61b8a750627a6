"""Conditions that choose between the accelerator and the CPU, by what their two arms do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

_MOVES = re.compile(r"\.cuda\(\)|\.to\([^()]*\)|\.module\b")
"""What brings to the accelerator, and what reaches through a wrapper for several of them, in the source's words."""


def switches_in(function: cst.CSTNode) -> Iterator[str]:
    """Conditions under which a function does what it does otherwise as well, there with a transfer and here without.

    ``if self.dp: x = zeros(3).cuda()`` / ``else: x = zeros(3)``: whoever sets ``self.dp`` says where all of it works.
    """
    import libcst as cst

    from devlint.placement.syntax.nodes import body_of, code_of, descend

    for node in descend(function):
        if not isinstance(node, cst.If) or not isinstance(node.orelse, cst.Else):
            continue
        arms = [[code_of(one).strip() for one in body_of(arm)] for arm in (node.body, node.orelse.body)]
        placed, bare = ([_MOVES.sub("", statement) for statement in arm] for arm in arms)
        if placed != arms[0] and bare == arms[1] and set(bare) <= set(placed):
            yield code_of(node.test)
