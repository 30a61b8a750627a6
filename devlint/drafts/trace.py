"""The trace of a finding: the steps that brought a value to its device, in the order of the program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.draft import DraftStep
from devlint.placement.domain.abstract_values import Value
from devlint.placement.domain.lattice import describe
from devlint.placement.domain.provenance import Provenance, Step, StepKind

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import DeviceMismatch, MismatchOperand, Moved

_STEP_MESSAGES = {
    StepKind.MADE: "made here",
    StepKind.GIVEN: "comes in here",
    StepKind.MOVED: "moved here",
    StepKind.DISCARDED: "this move is thrown away",
    StepKind.WRAPPED: "made a parameter here",
    StepKind.UNWRAPPED: "a plain tensor after this transfer",
    StepKind.REGISTERED: "moves with the module",
    StepKind.STORED: "kept as a plain attribute here",
    StepKind.RETURNED: "returned here",
    StepKind.COMPUTED: "computed here",
}


def provenance_of(value: Value) -> Provenance | None:
    """The provenance of a value, latest step first; None for a value without one, such as a number."""
    return getattr(value, "provenance", None)


def steps_of(operand: MismatchOperand) -> tuple[Step, ...]:
    """The provenance of an operand, first step to latest; empty if it has none."""
    provenance = provenance_of(operand.value)
    return tuple(reversed(tuple(provenance))) if provenance is not None else ()


def result_brought_back(call: cst.CSTNode, moves: Iterable[Moved]) -> DraftStep | None:
    """Of moves to the CPU the first of what a call gave: who writes that takes the callee to be elsewhere."""
    for move in moves:
        if any(step.node is call for step in provenance_of(move.receiver) or ()):
            return DraftStep(move.node, move.scope, "its result is brought to the CPU here", "cpu", passes_on=False)
    return None


def trace_of(event: DeviceMismatch) -> tuple[DraftStep, ...]:
    """The trace of a device mismatch: the provenance of both operands, the calls that lead there, the operation."""
    steps = [draft_step(step) for step in steps_of(event.offending)]
    # Where a call hands one of them on, the two come together there, and not where the other one came from.
    beside = (draft_step(step) for step in steps_of(event.other))
    steps += (replace(step, crosses=False) for step in beside) if event.calls else beside
    calls = (DraftStep(node, scope, "handed on here", crosses=True) for node, scope in event.calls)
    return (*steps, *calls, DraftStep(event.node, event.scope, "they meet here"))


def draft_step(step: Step) -> DraftStep:
    """One step of a value's provenance as a step of the trace."""
    named = f"`{step.name}`: " if step.name else ""
    passes_on = step.kind not in (StepKind.GIVEN, StepKind.REGISTERED, StepKind.MADE)
    assumed = f"; {step.note}" if step.note else ""
    words = f"{named}{_STEP_MESSAGES[step.kind]}{assumed}"
    crosses = step.kind in (StepKind.RETURNED, StepKind.STORED)
    return DraftStep(step.node, step.scope, words, describe(step.device), passes_on, crosses)
