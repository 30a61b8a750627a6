"""Tensors that are made side by side and handed back together: all but one on the same device. Part of DEV407."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import code_of, device_of
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Tensor, Value
from devlint.placement.domain.lattice import CPU, describe, is_device_by_name, leaves
from devlint.placement.domain.provenance import Step, StepKind, was_moved
from devlint.placement.syntax.nodes import elements_of
from devlint.rules.meeting.arm_drafts import draft_of
from devlint.rules.meeting.arms import creation_of, is_placed, made_here
from devlint.semantics import DType

if TYPE_CHECKING:
    from devlint.placement.domain.events import Returned
    from devlint.repairs.device_expressions import Definitions

_TOGETHER = "the caller gets them on two devices"


def handed_back_together(event: Returned, values: tuple[Value, ...], definitions: Definitions) -> Iterator[Draft]:
    """What a tuple or dict holds: the ones that were made with ``device=`` or moved afterwards, and the other one."""
    yield from _made(event, values, definitions)
    yield from _moved(event, values)


def _made(event: Returned, values: tuple[Value, ...], definitions: Definitions) -> Iterator[Draft]:
    """`return torch.zeros(n, device=d), torch.zeros(n, device=d), torch.zeros(n)`."""
    made = [creation_of(value) for value in values]
    placed = [s for s in made if s is not None and not s.bare and is_placed(s.device)]
    for value, step in zip(values, made, strict=True):
        if step is None or not step.bare or made_here(event, value) is None:
            continue
        alike = [s for s in placed if s.name == step.name]
        if alike:
            at = DraftStep(alike[0].node, alike[0].scope, "its sibling is made here", describe(alike[0].device))
            # A device that the caller names is for all of what is handed back, if not for an index.
            named = all(map(is_device_by_name, leaves(alike[0].device))) and not _may_be_an_index(value)
            confidence = Confidence.MEDIUM if len(alike) > 1 or named else Confidence.LOW
            yield draft_of(
                step, alike[0].device, "a sibling call", (at,), confidence, _TOGETHER, definitions=definitions
            )


def _moved(event: Returned, values: tuple[Value, ...]) -> Iterator[Draft]:
    """`torch.from_numpy(a).to(d)`, `torch.from_numpy(b).to(d)` and `torch.from_numpy(c)`: all were to go along.

    Lengths, which packing takes from the CPU, and what is of another factory may be kept there on purpose.
    """
    moved = [step for value in values if (step := _transfer_of(event, value)) is not None]
    if len(moved) < 2 or any(step.device != moved[0].device for step in moved):
        return
    nodes = elements_of(event.value_node)
    names = [code_of(node) for node in nodes] if len(nodes) == len(values) else [""] * len(values)
    made_of = {_made_by(value) for value in values if _transfer_of(event, value) is not None}
    for value, name in zip(values, names, strict=True):
        step = made_here(event, value)
        left = step is not None and device_of(value) == CPU and not was_moved(provenance_of(value))
        if step is None or not left or step.name not in made_of or "len" in name:
            continue
        at = DraftStep(moved[0].node, moved[0].scope, "its sibling is moved here", describe(moved[0].device))
        draft = draft_of(step, moved[0].device, "a sibling call", (at,), Confidence.MEDIUM, _TOGETHER)
        yield replace(draft, repair=Repair(Applicability.SUGGESTION, "move it as its siblings are moved"))


def _transfer_of(event: Returned, value: Value) -> Step | None:
    """The transfer of what the definition itself made on the CPU; None of anything else."""
    provenance = provenance_of(value)
    if not isinstance(value, Tensor) or provenance is None or not is_placed(value.device):
        return None
    step, first = provenance.find(StepKind.MOVED), provenance.first
    if step is None or step.device != value.device or not step.scope == event.scope == first.scope:
        return None
    return step if first.kind is StepKind.MADE and first.bare else None


def _made_by(value: Value) -> str:
    provenance = provenance_of(value)
    return provenance.first.name if provenance is not None else ""


def _may_be_an_index(value: Value) -> bool:
    return not isinstance(value, Tensor) or value.dtype not in (DType.OTHER, DType.UNKNOWN)
