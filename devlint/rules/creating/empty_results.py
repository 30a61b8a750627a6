"""Results without items: what is made with a last dimension of 0 fits into no operation with what has items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Tensor
from devlint.placement.domain.value_join import is_placeholder
from devlint.placement.syntax.sizes import is_made_empty, sizes_given
from devlint.semantics import Dim, Rule, Shape

if TYPE_CHECKING:
    from devlint.placement.domain.events import DeviceMismatch, MismatchOperand
    from devlint.placement.domain.provenance import Step


def fails_by_shape(event: DeviceMismatch, step: Step, theirs: MismatchOperand) -> bool:
    """Whether the operation raises on the CPU as well: it broadcasts, and 0 goes with 1 and 0 alone, or it contracts.

    ``if x.shape[-1] < width: return torch.empty((0, 0, 0))``, which is then multiplied by a window; ``if not rows:
    return torch.empty(0, 0)``, which is then multiplied as a matrix; ``if x.size(0) == 0: return torch.empty([0])``,
    into which something is then written by an index (fixture `without_items`).
    """
    sizes, other = sizes_given(step.node), theirs.value
    if event.operation.rule in _WRITTEN:
        return sizes[:1] == ["0"]
    if set(event.operation.basis.split(", ")) <= _CONTRACTIONS:
        return set(sizes) == {"0"}
    # `torch.empty(0)` is a mark for what is not there yet: nobody computes with one, whatever it meets.
    if is_made_of_nothing(step) and event.operation.in_place:
        return True
    broadcasts = event.operation.shape is Shape.BROADCAST
    has_items = is_made_of_nothing(step) or (isinstance(other, Tensor) and other.dim is Dim.NONZERO)
    return broadcasts and has_items and sizes[-1:] == ["0"]


_WRITTEN = (Rule.INDEX_WRITE, Rule.INDEX_PUT)
_CONTRACTIONS = frozenset({"mm", "mv", "bmm", "dot"})
"""Products of matrices and vectors, by their kernels."""


def stands_for_nothing(event: DeviceMismatch, step: Step) -> bool:
    """``return torch.empty(0)``: what another definition gives where there is nothing to do anything with."""
    return step.scope != event.scope and is_made_empty(step.node)


def holds_nothing(value: Tensor, step: Step) -> bool:
    """``torch.tensor([])``, ``torch.empty(0, width)``: a mark for what is not there yet."""
    return is_placeholder(value) or "0" in sizes_given(step.node)


def is_made_of_nothing(step: Step) -> bool:
    """``torch.empty(0)``: who wants no rows of something names the other sizes, or makes zeros."""
    return is_made_empty(step.node) and step.name.rpartition(".")[2] == "empty"
