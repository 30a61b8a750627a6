"""The finding for an arm that was made on the CPU: its words, its trace and its repair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.drafts.changes import suffixed, with_argument
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.lattice import Anchor, Device, SameAs, describe, leaves
from devlint.placement.syntax.sizes import sized_by

if TYPE_CHECKING:
    from devlint.placement.domain.provenance import Step
    from devlint.repairs.device_expressions import Definitions

_EITHER = "which of the two comes out depends on the data"


def draft_of(
    step: Step,
    other: Device,
    where: str,
    trace: tuple[DraftStep, ...],
    confidence: Confidence,
    consequence: str = "",
    absent: str = "",
    definitions: Definitions | None = None,
) -> Draft:
    """The finding at the creation ``step``; ``where`` names the arm that gives a tensor on ``other``.

    ``absent`` is an argument that is None where the creation runs; ``definitions`` tell which arguments are tensors.
    """
    return Draft(
        node=step.node,
        scope=step.scope,
        message=f"{quoted(step.node, f'`{step.name}`')} is created on the CPU, but {where} gives a tensor on "
        f"{describe(other)}; {consequence or _EITHER}",
        confidence=confidence,
        trace=(DraftStep(step.node, step.scope, "made here", "cpu"), *trace),
        repair=_repair(step, other, absent, definitions),
    )


def _repair(step: Step, other: Device, absent: str, definitions: Definitions | None) -> Repair:
    first = leaves(other)[0]
    named = first.symbol.name if isinstance(first, SameAs) and first.symbol.anchor is not Anchor.MODULE else ""
    if named and named == absent:
        # Where the creation runs, that one is None.
        named = next((name for name in sized_by(step.node, {}) if name != absent), "")
    if named and definitions is not None and not definitions.is_at_hand(step.scope, named, step.node):
        # What came in holds the other arm's tensor, as a dict does, or came in elsewhere, as to the constructor.
        named = ""
    target = named if named.endswith("device") else f"{named}.device" if named.isidentifier() else ""
    takes = step.factory is not None and step.factory.takes_device and not step.factory.legacy
    if not target:
        return Repair(Applicability.SUGGESTION, "make it on the device of the other arm")
    if takes:
        changes = with_argument(step.node, "device", target)
        return Repair(Applicability.SUGGESTION, f"pass `device={target}` to `{step.name}`", changes)
    return Repair(Applicability.SUGGESTION, f"add `.to({target})`", suffixed(step.node, f".to({target})"))
