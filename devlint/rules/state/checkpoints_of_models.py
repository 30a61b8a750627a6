"""Models that Lightning reads from a checkpoint without a place, in a function that is told one: part of DEV503.

`load_from_checkpoint` leaves the model where it was saved from. Who is told a device, and neither hands it on nor moves
anything there, has the model elsewhere: on the machine's CPU, or on an accelerator that need not exist here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.changes import with_argument
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.lattice import CPU
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, Called, Moved

LOADER = "load_from_checkpoint"
"""Source: lightning/pytorch/core/saving.py, whose default for `map_location` is the place the checkpoint names."""

_DEVICES = ("map_location", "device")


@dataclass(slots=True)
class CheckpointsOfModels:
    _told: dict[str, tuple[str, cst.CSTNode]] = field(default_factory=dict)
    """By definition: its parameter for a device, which is where it is told one."""
    _moving: set[str] = field(default_factory=set)
    """Definitions and classes that bring something to a place that is not the CPU."""
    _found: list[Called] = field(default_factory=list)

    def begun(self, event: Begun) -> None:
        for name, _ in event.arguments:
            if name in _DEVICES:
                self._told.setdefault(event.scope.qualname, (name, event.node))

    def moved(self, event: Moved) -> None:
        if event.moves and event.target != CPU:
            self._moving |= {event.scope.qualname, event.scope.class_name or event.scope.qualname}

    def called(self, event: Called) -> None:
        by_class = event.name.rpartition(".")[2] == LOADER and "." in code_of(event.call.node.func)
        if by_class and not event.call.unpacks and not _is_told(event):
            self._found.append(event)
        elif event.name.rpartition(".")[2] in ("to", "cuda", "to_device", "place_on", "prepare"):
            # Of what nothing is known of.
            self._moving |= {event.scope.qualname, event.scope.class_name or event.scope.qualname}

    def drafts(self) -> Iterator[Draft]:
        for event in self._found:
            scope = event.scope
            told = self._told.get(scope.qualname)
            if told is None or scope.role is Role.TEST or {scope.qualname, scope.class_name} & self._moving:
                continue
            parameter, node = told
            yield Draft(
                node=event.node,
                scope=scope,
                message=f"`{LOADER}` leaves the model where it was saved from, which may not exist here; "
                f"`{parameter}` says where it is wanted, and nothing brings it there",
                confidence=Confidence.MEDIUM,
                trace=(DraftStep(node, scope, f"`{parameter}` comes in here"),),
                repair=Repair(
                    Applicability.SUGGESTION,
                    f"say where to: `map_location={parameter}`",
                    with_argument(event.node, "map_location", parameter),
                ),
            )


def _is_told(event: Called) -> bool:
    """Whether the call has a place: by keyword, second, or in something called as devices are."""
    if event.call.argument("map_location", 1) is not None:
        return True
    return any("device" in code_of(argument.node).lower() for argument in event.call.arguments)
