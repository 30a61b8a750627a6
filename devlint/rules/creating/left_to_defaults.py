"""Tensors of a function that would place them if it were told where: part of DEV101.

The mistake is in the call that leaves the device out, and not in the function.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import with_argument
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import bare_creation, device_expression_of, quoted
from devlint.finding import Applicability
from devlint.placement.domain.lattice import SameAs
from devlint.placement.domain.provenance import StepKind

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.events import DeviceTold, MismatchOperand
    from devlint.placement.domain.provenance import Step
    from devlint.placement.domain.scope import Scope


@dataclass(slots=True)
class LeftToDefaults:
    """The calls of one file that leave a device parameter to a default that is the CPU."""

    _calls: dict[int, DeviceTold] = field(default_factory=dict)
    """By the identity of the call."""

    def note(self, event: DeviceTold) -> None:
        if event.given is None:
            self._calls[id(event.node)] = event

    def creation_of(self, value: Value) -> Step | None:
        """The creation without a device that put a value on the CPU, or one that a call left to the CPU by default."""
        bare = bare_creation(value)
        if bare is not None or self._call_of(value) is None:
            return bare
        for step in provenance_of(value) or ():
            if step.kind is StepKind.MADE:
                # ``torch.ones(n, device=device)``: where the parameter says.
                return step if isinstance(step.device, SameAs) and step.factory is not None else None
            if step.kind is StepKind.MOVED:
                return None
        return None

    def _call_of(self, value: Value) -> DeviceTold | None:
        """The latest call that gave the value and left a device out."""
        steps = (step for step in provenance_of(value) or () if step.kind is StepKind.RETURNED)
        return next((self._calls[id(step.node)] for step in steps if id(step.node) in self._calls), None)

    def at_the_call(self, draft: Draft, mine: MismatchOperand, theirs: MismatchOperand, met_in: Scope) -> Draft:
        """The draft at the call that made the operand and could have told where; as it is if there is none."""
        call = self._call_of(mine.value)
        if call is None:
            return draft
        import libcst as cst

        where = device_expression_of(theirs) if call.scope == met_in else None
        changes = with_argument(call.node, call.parameter, where) if where and isinstance(call.node, cst.Call) else ()
        told = f"`{call.parameter}={where}`" if where else f"`{call.parameter}`"
        name = quoted(call.node, f"this call of `{call.function}`")
        return replace(
            draft,
            node=call.node,
            scope=call.scope,
            message=f"{name} leaves `{call.parameter}` to its default: {draft.message}",
            trace=(*draft.trace, DraftStep(call.node, call.scope, f"`{call.parameter}` is left out here")),
            repair=Repair(Applicability.SUGGESTION, f"pass {told}", changes),
        )
