"""What goes by way of CUDA to another device, `net.cuda().to(device)`, which may be the CPU: part of DEV302."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.changes import DropCall
from devlint.drafts.draft import Draft, DraftStep, Premise, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Container, DeviceName, Instance, Opaque, UnknownValue
from devlint.placement.domain.lattice import UNKNOWN, is_device_by_name
from devlint.rules.current_device import goes_to_current
from devlint.rules.naming.refused_by_cuda import falls_back
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.events import Moved, Stored


@dataclass(slots=True)
class ThroughCuda:
    """The transfers to CUDA in one file whose very result is brought to a device that somebody chose."""

    _to_cuda: dict[int, Moved] = field(default_factory=dict)
    """By the call of the transfer."""
    _onward: dict[int, Moved] = field(default_factory=dict)
    """By the call of the transfer to CUDA: the one to which its result goes."""

    _chosen: set[str] = field(default_factory=set)
    """Attributes that the file sets to what the machine has, in the source's words."""

    def stored(self, event: Stored) -> None:
        if event.attribute is not None and falls_back(event.value):
            self._chosen.add(event.target)

    def moved(self, event: Moved) -> None:
        first = self._to_cuda.get(id(event.receiver_node))
        if first is not None and event.named is not None and _may_be_the_cpu(event):
            self._onward[id(first.call.node)] = event
        if goes_to_current(event) and not (event.guarded or isinstance(event.receiver, (Container, Instance))):
            self._to_cuda[id(event.call.node)] = event

    def drafts(self) -> list[Draft]:
        return [self._draft_of(self._to_cuda[call], onward) for call, onward in self._onward.items()]

    def spelled_in(self, node: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
        """The transfer, and the device that it names, which other drafts are about."""
        named = self._to_cuda[id(node)].named if id(node) in self._to_cuda else None
        return (node,) if named is None else (node, named.node)

    def _draft_of(self, event: Moved, onward: Moved) -> Draft:
        device = code_of(onward.named.node) if onward.named is not None else "its device"
        falls = onward.named is not None and (falls_back(onward.named.value) or device in self._chosen)
        when = "where there is no accelerator, for which it falls back" if falls else "where that is the CPU"
        text = f"`.{event.method}({code_of(event.named.node) if event.named is not None else ''})`"
        return Draft(
            node=event.node,
            scope=event.scope,
            message=f"{quoted(event.node, text)} fails on the way to `{device}` {when}",
            confidence=Confidence.LOW if event.scope.role in (Role.TEST, Role.BENCHMARK) else Confidence.MEDIUM,
            trace=(DraftStep(onward.node, onward.scope, "brought on here"),),
            repair=Repair(Applicability.UNSAFE, f"leave out {text}", (DropCall(event.call.node),)),
            premise=None if falls else Premise.CALLERS_CHOOSE,
        )


def _may_be_the_cpu(event: Moved) -> bool:
    """Whether a test of the machine chose the device, or a caller says it."""
    named: Value | None = event.named.value if event.named is not None else None
    told = event.target is not None and is_device_by_name(event.target)
    return falls_back(named) or told if isinstance(named, DeviceName) else _is_called_a_device(event, named)


def _is_called_a_device(event: Moved, named: Value | None) -> bool:
    """`args.device`, of which nothing else is known."""
    unknown = isinstance(named, UnknownValue) or (isinstance(named, Opaque) and named.device == UNKNOWN)
    spelled = code_of(event.named.node) if event.named is not None else ""
    return unknown and spelled.rpartition(".")[2].lower().endswith("device")
