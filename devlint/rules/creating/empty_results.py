"""Results without items: what is made with a last dimension of 0 fits into no operation with what has items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Tensor
from devlint.semantics import Dim, Shape

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import DeviceMismatch, MismatchOperand
    from devlint.placement.domain.provenance import Step


def fails_by_shape(event: DeviceMismatch, step: Step, theirs: MismatchOperand) -> bool:
    """Whether the operation raises on the CPU as well: it broadcasts, and 0 goes with 1 and 0 alone.

    ``if x.shape[-1] < width: return torch.empty((0, 0, 0))``, which is then multiplied by a window (fixture
    `without_items`).
    """
    other = theirs.value
    broadcasts = event.operation.shape is Shape.BROADCAST and isinstance(other, Tensor) and other.dim is Dim.NONZERO
    return broadcasts and _last_size(step.node) == "0"


def _last_size(node: cst.CSTNode) -> str:
    """The last size of ``torch.empty(n, 0)`` and of ``torch.empty((n, 0))``, if it is written out as a number."""
    import libcst as cst

    if not isinstance(node, cst.Call):
        return ""
    sizes = [argument.value for argument in node.args if argument.keyword is None]
    last = sizes[-1] if sizes else None
    if isinstance(last, (cst.Tuple, cst.List)) and last.elements:
        last = last.elements[-1].value
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
    return last.value if isinstance(last, cst.Integer) and name in ("empty", "zeros", "ones", "rand", "randn") else ""
