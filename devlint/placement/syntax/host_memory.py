"""Calls that say that their result is to be in the memory of the host."""

from __future__ import annotations

import libcst as cst

from devlint.placement.syntax.nodes import code_of


def may_be_pinned(node: cst.CSTNode) -> bool:
    """``torch.empty(n, pin_memory=pinned)``: only memory of the host can be pinned, so that the CPU is meant."""
    named = (one for one in node.args if one.keyword is not None) if isinstance(node, cst.Call) else ()
    said = [code_of(one.value) for one in named if one.keyword is not None and one.keyword.value == "pin_memory"]
    return any(text not in ("False", "None") for text in said)


def brings_home(node: cst.CSTNode | None) -> bool:
    """``x.mean().cpu()``."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "cpu"
