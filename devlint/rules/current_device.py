"""Transfers to the current device, whatever device the other tensors are on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace, TransferTo
from devlint.drafts.draft import Draft
from devlint.drafts.trace import provenance_of, trace_of
from devlint.drafts.wording import code_of
from devlint.placement.domain.abstract_values import Constant, Evidence, Module, Tensor
from devlint.placement.domain.lattice import CPU, UNKNOWN, Device, Known, batch_of, is_given, leaves
from devlint.placement.domain.provenance import Provenance, Step, StepKind
from devlint.records import dataclass
from devlint.rules.rule import Rule

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.placement.domain.events import DeviceMismatch, Moved


class LosesTheDevice(Rule):
    """Base of the rules about such transfers: each is reported once.

    A transfer that leads to a device mismatch is reported with its trace, any other one at the end of the file.
    """

    def __init__(self) -> None:
        self._pending: dict[int, Draft] = {}
        """By the identity of the move's node: drafts without a device mismatch so far."""

    def _report_later(self, draft: Draft) -> None:
        self._pending[id(draft.node)] = draft

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        for operand in (event.offending, event.other):
            for step in provenance_of(operand.value) or ():
                draft = self._pending.pop(id(step.node), None)
                if draft is not None:
                    yield replace(draft, trace=trace_of(event))
                    return

    def finish(self) -> Iterable[Draft]:
        return tuple(self._pending.values())


def goes_to_current(event: Moved) -> bool:
    """`.cuda()` and `.to("cuda")`: the device is spelled on the spot, without an index, and none is known to be set."""
    if not event.moves or not is_current(event.target):
        return False
    if isinstance(event.receiver, Module) and event.receiver.stateless:
        return False  # `nn.MSELoss().cuda()` does nothing, and raises on no machine
    return event.named is None or isinstance(event.named.value, Constant)


def is_current(device: Device) -> bool:
    return isinstance(device, Known) and device.type not in ("cpu", "meta", "mps") and device.index is None


@dataclass(frozen=True, slots=True, eq=False)
class RoundTrip:
    """A value that went to the CPU at ``away`` and comes back. ``source`` is the expression that was moved there."""

    away: Step
    source: cst.BaseExpression
    in_one_chain: bool
    certain: bool
    """The value is a tensor whose place the caller decided."""


def named_instead(event: Moved, device: str) -> tuple[Change, ...]:
    """The transfer with ``device`` for what it names now: `.cuda()` becomes `.to(x.device)`."""
    if event.named is not None and event.method == "to":
        return (Replace(event.named.node, device),)
    return (TransferTo(event.call.node, device),)


def round_trip(event: Moved) -> RoundTrip | None:
    """The transfer to the CPU of a value that the same definition now moves to the current device.

    None where the value was not on the CPU, was sent there elsewhere, or may not have come from an accelerator.
    """
    import libcst as cst

    from devlint.placement.syntax.nodes import contains

    if not goes_to_current(event) or getattr(event.receiver, "device", UNKNOWN) != CPU:
        return None
    provenance = _sent_to_cpu(provenance_of(event.receiver))
    if provenance is None or provenance.step.scope != event.scope:
        return None
    before = provenance.previous.step.device if provenance.previous is not None else UNKNOWN
    node = provenance.step.node
    if not _may_be_elsewhere(before) or not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return None
    in_one_chain = contains(event.receiver_node, node)
    if before == UNKNOWN and not in_one_chain:
        # What was moved is unknown, so it need not have come from an accelerator.
        return None
    tensor = isinstance(event.receiver, Tensor) and event.receiver.evidence is Evidence.CERTAIN
    return RoundTrip(provenance.step, node.func.value, in_one_chain, tensor and any(map(is_given, leaves(before))))


def _sent_to_cpu(provenance: Provenance | None) -> Provenance | None:
    """The link of the latest transfer if that went to the CPU, else None."""
    link = provenance
    while link is not None:
        if link.step.kind in (StepKind.MOVED, StepKind.UNWRAPPED):
            return link if link.step.device == CPU else None
        if link.step.kind in (StepKind.MADE, StepKind.RETURNED, StepKind.STORED):
            return None
        link = link.previous
    return None


def _may_be_elsewhere(device: Device) -> bool:
    """Not on the CPU before, as a fresh batch is, and not on the current device by this program's own doing.

    An item of something else than a loader or a data set is where its caller keeps it: who brings it to the CPU knows
    that.
    """
    return any(leaf == UNKNOWN or is_given(leaf) or _is_kept_item(leaf) for leaf in leaves(device))


def _is_kept_item(device: Device) -> bool:
    batch = batch_of(device)
    return batch is not None and not any(word in batch.source.lower() for word in _ON_THE_CPU)


_ON_THE_CPU = ("loader", "data")
"""Words in the names of what hands out tensors on the CPU."""


def device_attribute(node: cst.BaseExpression) -> str:
    """The code of an expression's device, which only a tensor has: for a module the caller writes `next(...)`."""
    return f"{code_of(node)}.device"
