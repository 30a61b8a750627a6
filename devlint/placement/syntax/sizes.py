"""The sizes that an expression reads, and of what."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.placement.syntax.nodes import descend


def named_sizes(function: cst.CSTNode) -> dict[str, str]:
    """The names of sizes that a function reads, ``rows = x.size(0)``, with the names of what has them."""
    found: dict[str, str] = {}
    for node in descend(function, into_definitions=False):
        if not isinstance(node, cst.Assign) or (owner := next(sized_by(node.value, {}), None)) is None:
            continue
        for target in node.targets:
            parts = target.target.elements if isinstance(target.target, cst.Tuple) else (target.target,)
            names = (part.value if isinstance(part, cst.Element) else part for part in parts)
            found.update((name.value, owner) for name in names if isinstance(name, cst.Name))
    return found


def sized_by(node: cst.CSTNode, sizes: dict[str, str]) -> Iterator[str]:
    """The names of which an expression reads a size."""
    for part in descend(node):
        match part:
            case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="shape" | "size")):
                yield name
            case cst.Name(value=name) if name in sizes:
                yield sizes[name]
