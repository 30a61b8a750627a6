"""Modules that may be split over several devices, and operands that share a device only while they are not split.

Source: accelerate 1.8, ``dispatch_model`` and ``AlignDevicesHook``: the inputs of each submodule are moved to the
device of its parameters, and its outputs stay there. A parameter of the module itself is not moved. Classes of
transformers and diffusers that may be dispatched list the blocks that stay whole in ``_no_split_modules``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.domain.abstract_values import Tensor
from devlint.placement.domain.events import MismatchOperand, SplitOperands
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.operations.operands import Bound, dim_of, provenance_of, same_or_apart
from devlint.semantics import Clash, Operand, Operation

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def may_be_split(interp: Interpreter) -> bool:
    """Whether the evaluated method belongs to a class that declares that it may be split."""
    owner = interp.info.owner if interp.info is not None else None
    return owner is not None and owner.is_module and owner.splits and interp.scope.setting is not Setting.CONSTRUCTION


def note_split(interp: Interpreter, node: cst.CSTNode, operation: Operation, operands: Sequence[Bound]) -> None:
    """Emit an event if a parameter of the module itself is combined with the output of one of its submodules."""
    own = next((b for b in operands if isinstance(b.value, Tensor) and _latest(b) is StepKind.REGISTERED), None)
    other = next((b for b in operands if _latest(b) is StepKind.COMPUTED), None)
    if own is not None and other is not None and _clash_apart(operation, operands, own):
        mine, theirs = (MismatchOperand(b.role, b.value, b.node) for b in (own, other))
        interp.emit(SplitOperands(node, interp.scope, operation, mine, theirs))


def _clash_apart(operation: Operation, operands: Sequence[Bound], own: Bound) -> bool:
    """Whether the operation fails if ``own`` is on one accelerator and the other operands on another."""
    given = [Operand(b.role, int(b is not own), dim_of(b.value)) for b in operands]
    return isinstance(semantics.meet(operation, given, same_or_apart, -1), Clash)


def _latest(bound: Bound) -> StepKind | None:
    """The step that last determined the operand's device."""
    provenance = provenance_of(bound.value)
    step = (
        provenance.find(StepKind.MOVED, StepKind.COMPUTED, StepKind.REGISTERED, StepKind.RETURNED)
        if provenance
        else None
    )
    return step.kind if step is not None else None
