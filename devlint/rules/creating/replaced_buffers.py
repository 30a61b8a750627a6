"""Buffers that a working module replaces by what it makes on the CPU: after that, a part of it is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step
from devlint.drafts.wording import bare_creation, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Kind, Self, Tensor
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.scope import Setting
from devlint.semantics import Dim

if TYPE_CHECKING:
    from devlint.placement.domain.events import Stored
    from devlint.placement.domain.provenance import Step


def drafts(event: Stored) -> Iterator[Draft]:
    """The draft of DEV101 about what is stored under the name of a buffer, if there is one."""
    step = _over_a_buffer(event)
    if step is not None:
        yield Draft(
            node=step.node,
            scope=step.scope,
            message=f"{quoted(step.node, f'`{step.name}`')} is created on the CPU and replaces the buffer "
            f"`{event.target}` while the module works; after that a part of it is on the CPU",
            confidence=Confidence.HIGH,
            trace=(draft_step(step), DraftStep(event.node, event.scope, "put in the buffer's place here")),
            repair=Repair(Applicability.SUGGESTION, f"create it on the device of the buffer: `{event.target}.device`"),
        )


def _over_a_buffer(event: Stored) -> Step | None:
    """The creation of what `forward`, or a method that it calls, stores under the name of a buffer."""
    value, owner = event.value, event.owner
    if not isinstance(value, Tensor) or value.kind is not Kind.BUFFER or value.device != CPU or value.dim is Dim.ZERO:
        return None
    if not isinstance(owner, Self) or event.scope.setting not in (Setting.FORWARD, Setting.METHOD):
        return None
    info, method = owner.info, event.scope.qualname.rpartition(".")[2]
    forward = info.method("forward")
    if forward is None or not info.is_module or info.defines("_apply", "to", "cuda"):
        return None
    step = bare_creation(value)
    called = method == "forward" or method in forward.own.mentioned
    return step if called and step is not None and step.scope == event.scope else None
