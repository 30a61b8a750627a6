"""What is made in the size or with the dtype of an argument, to hold a part of it: part of DEV101."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.syntax.sizes import named_sizes, sized_by

if TYPE_CHECKING:
    from devlint.placement.domain.provenance import Step


def is_made_for(name: str, step: Step, function: cst.CSTNode) -> bool:
    """Whether a creation in a function reads a size or the dtype of a name, and of nothing else."""
    if not isinstance(step.node, cst.Call):
        return False
    sizes = named_sizes(function)
    return {owner for arg in step.node.args for owner in (*sized_by(arg.value, sizes), *_typed_by(arg))} == {name}


def is_of_many(target: cst.CSTNode) -> bool:
    """``padded[:, 1:]``, ``out[..., 0]``: not one item for each turn of a loop."""
    return isinstance(target, cst.Subscript) and any(
        isinstance(part.slice, cst.Slice)
        or (isinstance(part.slice, cst.Index) and isinstance(part.slice.value, cst.Ellipsis))
        for part in target.slice
    )


def _typed_by(argument: cst.Arg) -> Iterator[str]:
    """``x``, of ``dtype=x.dtype``."""
    match argument:
        case cst.Arg(
            keyword=cst.Name(value="dtype"),
            value=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="dtype")),
        ):
            yield name
