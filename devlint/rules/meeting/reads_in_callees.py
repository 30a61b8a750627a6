"""Tensors that a call hands to a function of another file, which gives them to numpy: part of DEV403."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.drafts.changes import suffixed
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step
from devlint.drafts.wording import quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Evidence, Tensor
from devlint.placement.domain.lattice import (
    Anchor,
    Choice,
    Device,
    GuardKind,
    SameAs,
    describe,
    is_accelerator,
    is_device_by_name,
    leaves,
)
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.rules.meeting.reads_by_numpy import accelerator, follows_the_tensors_own_test, may_be_an_array
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import ReadInCallee


def draft_of(event: ReadInCallee) -> Draft | None:
    """The finding at the call; None where the caller may as well have its tensors on the CPU."""
    if event.scope.role is Role.TEST or event.scope.setting is Setting.HOST:
        return None
    if any(arm.guard.kind is GuardKind.ON_ACCELERATOR for arm in event.arms):
        return None
    device = event.device
    if is_accelerator(device):
        sure = isinstance(event.value, Tensor) and event.value.evidence is Evidence.CERTAIN
        return _draft(event, device, Severity.ERROR, Confidence.HIGH if sure else Confidence.MEDIUM)
    if isinstance(device, Choice) and any(map(accelerator, leaves(device))):
        told = not follows_the_tensors_own_test(device)
        return _draft(event, device, Severity.WARNING, Confidence.MEDIUM) if told else None
    place = next((leaf for leaf in leaves(device) if _is_chosen(event, leaf)), None)
    return None if place is None else _draft(event, place, Severity.WARNING, Confidence.MEDIUM)


def _is_chosen(event: ReadInCallee, device: Device) -> bool:
    """Whether the code at hand put it there, or computed it where its own module works."""
    if not isinstance(device, SameAs) or event.value.provenance is None:
        return False
    if is_device_by_name(device):
        # A function that is told the device gives arrays as often (fixture `handed_to_helpers`).
        return not may_be_an_array(event.as_read_here)
    working = event.scope.setting in (Setting.FORWARD, Setting.METHOD)
    computed = event.value.provenance.find(StepKind.COMPUTED) is not None
    # Results of models hold arrays as well: `for polygon in found["polygons"]:` (fixture `results_as_arrays`).
    tensor = isinstance(event.value, Tensor) or event.value.tensorlike
    return working and computed and tensor and device.symbol.anchor is Anchor.MODULE


def _draft(event: ReadInCallee, device: Device, severity: Severity, confidence: Confidence) -> Draft:
    return draft_at_call(event, f"is on {describe(device)}", severity, confidence)


def draft_at_call(
    event: ReadInCallee, where: str, severity: Severity, confidence: Confidence, also: tuple[DraftStep, ...] = ()
) -> Draft:
    """The finding at a call. ``where`` its argument is, and what ``also`` shows that."""
    given, read = event.expression, event.read
    what = f"reads its `{read.argument}` on the CPU" if read.argument else "reads host memory"
    steps = tuple(draft_step(step) for step in reversed(tuple(event.value.provenance or ())))
    return Draft(
        node=given,
        scope=event.scope,
        severity=severity,
        message=f"{quoted(given, 'the tensor')} {where}; "
        f"`{event.callee}` hands it to `{read.reader}`, which {what} and raises",
        confidence=confidence,
        trace=(
            *steps,
            *also,
            DraftStep(event.node, event.scope, "handed on here"),
            *(DraftStep(node, scope, "handed on here") for node, scope in read.calls),
            DraftStep(read.node, read.scope, "read on the host here"),
        ),
        repair=Repair(Applicability.SUGGESTION, "hand it over from the CPU: `.cpu()`", suffixed(given, ".cpu()")),
    )
