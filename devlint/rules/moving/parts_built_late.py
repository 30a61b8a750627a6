"""Parts that a module builds for itself where it already works, and leaves on the CPU: part of DEV206."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Module, Self
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import Called, Moved, Stored


@dataclass(slots=True)
class PartsBuiltLate:
    """What is stored in `forward`, or in a hook that Lightning calls with a batch: by then the module was moved."""

    _stored: list[Stored] = field(default_factory=list)
    _reached: dict[str, set[str]] = field(default_factory=dict)
    """By `forward`: what it moves or calls itself, in the source's words. A call there is DEV104's."""

    def stored(self, event: Stored) -> None:
        value, scope = event.value, event.scope
        if scope.setting is not Setting.FORWARD or scope.role is Role.TEST or not isinstance(event.owner, Self):
            return
        if not event.owner.info.is_module or not isinstance(value, Module) or value.device != CPU:
            return
        first = value.provenance.first if value.provenance is not None else None
        built = first is not None and first.kind is StepKind.MADE
        if built and value.provenance is not None and value.provenance.find(StepKind.MOVED) is None:
            self._stored.append(event)

    def moved(self, event: Moved) -> None:
        if event.scope.setting is not Setting.FORWARD:
            return
        self._reached.setdefault(event.scope.qualname, set()).add(event.receiver_text)

    def called(self, event: Called) -> None:
        if event.scope.setting is not Setting.FORWARD:
            return
        function = event.call.node.func
        self._reached.setdefault(event.scope.qualname, set()).add(code_of(function))

    def drafts(self) -> Iterator[Draft]:
        for event in self._stored:
            reached = self._reached.get(event.scope.qualname, set())
            value = event.value
            if {event.target, "self.to", "self.cuda"} & reached or not isinstance(value, Module):
                continue
            if value.provenance is None or not _may_hold_state(value):
                continue
            first = value.provenance.first
            method = event.scope.qualname.rpartition(".")[2]
            yield Draft(
                node=first.node,
                scope=first.scope,
                message=f"{quoted(first.node, f'`{event.target}`')} is built when `{method}` runs, after the module "
                f"was moved, and `{event.target}` stays on the CPU",
                confidence=Confidence.MEDIUM,
                trace=(draft_step(first), DraftStep(event.node, event.scope, f"kept in `{method}`")),
                repair=Repair(
                    Applicability.SUGGESTION, "build it in the constructor, or move it to the device of the input"
                ),
            )


_CONTAINERS = frozenset({"torch.nn.ModuleDict", "torch.nn.ModuleList", "torch.nn.Sequential"})


def _may_hold_state(value: Module) -> bool:
    return bool(value.holds_state) or (value.holds_state is None and value.type_name in _CONTAINERS)
