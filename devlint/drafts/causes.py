"""One cause, one finding: which rule a clash belongs to, and the trace every report of a clash shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.drafts.draft import DraftStep
from devlint.placement.domain.abstract_values import Value
from devlint.placement.domain.lattice import describe
from devlint.placement.domain.provenance import Origin, Step, StepKind

if TYPE_CHECKING:
    from devlint.placement.domain.events import Met, MetOperand

CAUSE_ORDER = (
    "DEV103",
    "DEV202",
    "DEV502",
    "DEV501",
    "DEV504",
    "DEV206",
    "DEV104",
    "DEV201",
    "DEV205",
    "DEV310",
    "DEV208",
    "DEV101",
    "DEV407",
    "DEV404",
    "DEV403",
    "DEV402",
    "DEV406",
    "DEV405",
    "DEV401",
)
"""The causes of a clash, first match wins; the last six are the operation's own rules."""

_WORDS = {
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


def origin_of(value: Value) -> Origin | None:
    return getattr(value, "origin", None)


def steps_of(operand: MetOperand) -> tuple[Step, ...]:
    """The operand's steps, first to latest."""
    origin = origin_of(operand.value)
    return tuple(reversed(tuple(origin))) if origin is not None else ()


def trace_of(event: Met) -> tuple[DraftStep, ...]:
    """Both operands' ways, then the meeting: what every report of a clash shows."""
    steps = [draft_step(step) for operand in (event.stray, event.other) for step in steps_of(operand)]
    return (*steps, DraftStep(event.node, event.scope, "they meet here"))


def draft_step(step: Step) -> DraftStep:
    named = f"`{step.name}`: " if step.name else ""
    passes_on = step.kind not in (StepKind.GIVEN, StepKind.REGISTERED, StepKind.MADE)
    return DraftStep(step.node, step.scope, f"{named}{_WORDS[step.kind]}", describe(step.device), passes_on)
