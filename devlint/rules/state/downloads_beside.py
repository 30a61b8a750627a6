"""Weights that are downloaded without a place, in a function that says one where it loads a file: part of DEV503.

What the authors published, everybody loads, so that a download alone is no finding. Where the function says of a file
that it goes to the CPU, the downloaded weights are to go there as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.changes import with_argument
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Constant, DeviceName
from devlint.placement.domain.lattice import CPU
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Argument
    from devlint.placement.domain.events import Called

DOWNLOADS = frozenset({"torch.hub.load_state_dict_from_url", "torch.utils.model_zoo.load_url"})
"""Source: torch/hub.py, which hands `map_location`, None by default, to `torch.load`."""


@dataclass(slots=True)
class DownloadsBeside:
    _mapped: dict[str, Called] = field(default_factory=dict)
    """By definition: a load that brings a file to the CPU."""
    _found: list[Called] = field(default_factory=list)

    def loaded(self, event: Called) -> None:
        """A load of a file, with or without a place."""
        if _is_to_the_cpu(event.call.argument("map_location", 1)):
            self._mapped.setdefault(event.scope.qualname, event)

    def called(self, event: Called) -> None:
        if event.name in DOWNLOADS and not event.call.unpacks and event.call.argument("map_location", 2) is None:
            self._found.append(event)

    def drafts(self) -> Iterator[Draft]:
        for event in self._found:
            mapped = self._mapped.get(event.scope.qualname)
            if mapped is None or event.scope.role is Role.TEST:
                continue
            yield Draft(
                node=event.node,
                scope=event.scope,
                message=f"`{event.name.rpartition('.')[2]}` puts every tensor back on the device it was saved from, "
                "where the file that is loaded beside it goes to the CPU",
                confidence=Confidence.MEDIUM,
                trace=(
                    DraftStep(mapped.node, mapped.scope, f"`{code_of(mapped.call.node)}`: to the CPU", "cpu"),
                    DraftStep(event.node, event.scope, "downloaded without a place here"),
                ),
                repair=Repair(
                    Applicability.UNSAFE,
                    'say where to: `map_location="cpu"`',
                    with_argument(event.node, "map_location", '"cpu"'),
                ),
            )


def _is_to_the_cpu(place: Argument | None) -> bool:
    value = place.value if place is not None else None
    if isinstance(value, Constant):
        return value.value == "cpu"
    return isinstance(value, DeviceName) and value.device == CPU
