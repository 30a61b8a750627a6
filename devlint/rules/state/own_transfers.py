"""Objects, but for Modules, whose `to` moves what they keep and not the device that their inputs go to: part of DEV504.

`def to(self, device): self.model.to(device)`, where another method hands `self.model` what it brought to `self.device`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Confidence
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.class_facts import AttributeFact, ClassFacts
    from devlint.placement.domain.events import Begun
    from devlint.rules.state.stored_device_uses import Use

_TRANSFER = "to"


@dataclass(slots=True)
class OwnTransfers:
    _begun: dict[str, Begun] = field(default_factory=dict)
    """By class: its own `to`."""

    def begun(self, event: Begun) -> None:
        owner, _, name = event.scope.qualname.rpartition(".")
        if name == _TRANSFER and event.owner is not None and not event.owner.is_module:
            self._begun[owner] = event

    def draft_of(self, facts: ClassFacts, fact: AttributeFact, uses: list[Use]) -> Draft | None:
        """``fact``: the device that the object keeps; ``uses``: where its methods bring something there."""
        begun, method = self._begun.get(facts.info.qualname), facts.info.methods.get(_TRANSFER)
        if begun is None or method is None or fact.name in method.stores or begun.scope.role is Role.TEST:
            return None
        moves = _moves_of_parts(begun.node)
        for use in uses:
            user = facts.info.method(use.event.scope.qualname.rpartition(".")[2])
            # What is brought there is for the part that the same method speaks of.
            part = next((one for one in moves if user is not None and one in user.own.mentioned), None)
            if part is None or user is method:
                continue
            kept, placed = f"`self.{fact.name}`", use.event
            return Draft(
                node=moves[part],
                scope=begun.scope,
                message=f"`to` moves `self.{part}` and leaves {kept} as it was: what `self.{part}` is given still goes "
                "there",
                confidence=Confidence.MEDIUM,
                trace=(
                    DraftStep(fact.node, fact.scope, "the device is kept here", passes_on=False),
                    DraftStep(placed.node, placed.scope, f"{kept} places a tensor here"),
                ),
                repair=Repair(Applicability.SUGGESTION, f"set {kept} in `to` as well"),
            )
        return None


def _moves_of_parts(definition: cst.CSTNode) -> dict[str, cst.Call]:
    """What a `to` moves to its argument, by attribute: `self.model.to(device)`.

    Empty where it does anything else with the device: a helper may note it, and what is built anew has its own.
    """
    import libcst as cst

    from devlint.placement.syntax.nodes import descend, parameters_of

    if not isinstance(definition, cst.FunctionDef) or definition.decorators:
        return {}
    given = [one.name.value for one in parameters_of(definition)][1:2]
    found: dict[str, cst.Call] = {}
    read = moved = 0
    for node in descend(definition.body):
        if isinstance(node, cst.Name) and node.value in given:
            read += 1
        elif isinstance(node, cst.Return) and node.value is not None and code_of(node.value) != "self":
            return {}
        elif isinstance(node, cst.Call):
            if part := _part_moved(node, given):
                found.setdefault(part, node)
                moved += 1
            elif code_of(node.func).startswith(("self._", "self.set", "super(", "setattr")):
                return {}
    return found if read == moved else {}


def _part_moved(call: cst.Call, given: list[str]) -> str:
    """`model` of `self.model.to(device)`; empty for other calls."""
    import libcst as cst

    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != _TRANSFER or len(call.args) != 1:
        return ""
    names = code_of(call.func.value).split(".")
    told = code_of(call.args[0].value) in given
    return names[1] if told and len(names) == 2 and names[0] == "self" and names[1].isidentifier() else ""
