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


def is_made_empty(node: cst.CSTNode) -> bool:
    """``torch.empty(0)``, ``torch.zeros((0, 0))``."""
    return set(sizes_given(node)) == {"0"}


def makes_no_items(node: cst.CSTNode) -> bool:
    """``torch.zeros(0, 2)``, ``torch.tensor([])``, ``torch.Tensor()``: whatever else its sizes are."""
    if "0" in sizes_given(node):
        return True
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    name = node.func.attr.value
    if name not in ("tensor", "Tensor", "FloatTensor", "LongTensor"):
        return False
    values = [argument.value for argument in node.args if argument.keyword is None]
    if not values:
        return name != "tensor" and not node.args
    return len(values) == 1 and isinstance(values[0], cst.List) and not values[0].elements


def sizes_given(node: cst.CSTNode) -> list[str]:
    """The sizes in ``torch.empty(n, 0)`` and in ``torch.empty((n, 0))``: the numbers among them, "" for others."""
    name = node.func.attr.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else ""
    if not isinstance(node, cst.Call) or name not in ("empty", "zeros", "ones", "rand", "randn"):
        return []
    sizes = [argument.value for argument in node.args if argument.keyword is None]
    if sizes and isinstance(sizes[0], (cst.Tuple, cst.List)):
        sizes = [element.value for element in sizes[0].elements]
    return [size.value if isinstance(size, cst.Integer) else "" for size in sizes]
