"""What one arm of a choice gives: a tensor that was created on the CPU, or one that the caller placed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import bare_creation, device_of
from devlint.placement.domain.abstract_values import Evidence, Opaque, Tensor, Value
from devlint.placement.domain.events import Called, Returned
from devlint.placement.domain.lattice import CPU, Anchor, Device, GuardKind, Known, SameAs, is_given, leaves
from devlint.placement.domain.provenance import Step, StepKind
from devlint.placement.syntax.host_memory import may_be_pinned
from devlint.records import dataclass
from devlint.semantics import Dim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from devlint.placement.domain.events import Event


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """What one arm gives: a value on the CPU by the creation ``step``, or a value on ``device``."""

    event: Event
    device: Device
    step: Step | None = None
    gives_nothing: bool = False
    """All that is returned beside it has no items either: ``return torch.empty(0), torch.empty(0)``."""


def arm_of(event: Event, value: Value, without_dimensions: bool = False) -> Arm | None:
    """The arm that gives a value; None if its device is unknown or proves nothing about the other arms.

    ``without_dimensions``: so may a tensor that has none. It meets others anywhere, but `torch.stack` refuses it.
    """
    device = device_of(value)
    if device is None or not isinstance(value, (Tensor, Opaque)):
        return None
    if device == CPU:
        step = made_here(event, value, without_dimensions)
        return Arm(event, device, step) if step is not None else None
    sure = isinstance(value, Tensor) and value.evidence is Evidence.CERTAIN
    return Arm(event, device) if is_placed(device) and (sure or moves_with_module(device)) else None


def made_here(event: Event, value: Value, without_dimensions: bool = False) -> Step | None:
    """The creation without ``device=`` of a tensor with dimensions, in the event's definition; None if it is stored."""
    step = bare_creation(value)
    if step is None or not isinstance(value, Tensor) or step.scope != event.scope:
        return None
    if (value.dim is not Dim.NONZERO and not without_dimensions) or may_be_pinned(step.node):
        return None
    provenance = provenance_of(value)
    kept = provenance is not None and provenance.find(StepKind.STORED, StepKind.WRAPPED) is not None
    return None if kept else step


def creation_of(value: Value) -> Step | None:
    """The factory call that gave the value; None if anything was done to it since."""
    provenance = provenance_of(value)
    return provenance.step if provenance is not None and provenance.step.kind is StepKind.MADE else None


def is_for_no_tensor(arm: Arm, device: Device) -> bool:
    """Whether what is on ``device`` in the other arm is a number or a list in this one, and has no place to follow."""
    followed = {leaf.symbol for leaf in leaves(device) if isinstance(leaf, SameAs)}
    if arm.step is not None and not {symbol.name for symbol in followed}.isdisjoint(_numbers_given(arm.step)):
        return True
    decided = arm.event.arms if isinstance(arm.event, (Returned, Called)) else ()
    return any(
        one.guard.subject in followed
        and (
            one.guard.kind is GuardKind.IS_TENSOR
            if not one.holds
            else one.guard.kind in (GuardKind.IS_NO_TENSOR, GuardKind.IS_ARRAY)
        )
        for one in decided
    )


def _numbers_given(step: Step) -> Iterator[str]:
    """``start`` and ``end`` of ``torch.linspace(start, end, steps)``: what a factory is told that takes no data."""
    import libcst as cst

    takes_numbers = step.factory is not None and step.factory.default == "default_device"
    if takes_numbers and isinstance(step.node, cst.Call):
        yield from (one.value.value for one in step.node.args if isinstance(one.value, cst.Name))


def reads_host_data(step: Step) -> bool:
    """Whether the factory takes no device, as `from_numpy`: the arm is the one for data that came from the host."""
    return step.factory is not None and not step.factory.takes_device


def is_placeholder(step: Step) -> bool:
    """``torch.empty(1)``: one number that nobody set stands for an argument that is not there."""
    import libcst as cst

    node = step.node
    if step.name.rpartition(".")[2] != "empty" or not isinstance(node, cst.Call):
        return False
    sizes = [argument.value for argument in node.args if argument.keyword is None]
    return len(sizes) == 1 and isinstance(sizes[0], cst.Integer) and sizes[0].value == "1"


def is_placed(device: Device) -> bool:
    """Whether a value is where the caller's tensors or the module are, on every arm."""
    return all(
        is_given(leaf) or (isinstance(leaf, Known) and not leaf.on_cpu and leaf.type != "meta")
        for leaf in leaves(device)
    )


def moves_with_module(device: Device) -> bool:
    """Whether the device is that of the module itself, on every arm."""
    return all(isinstance(leaf, SameAs) and leaf.symbol.anchor is Anchor.MODULE for leaf in leaves(device))
