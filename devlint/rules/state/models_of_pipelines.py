"""Models that are moved within the pipeline that holds them: part of DEV504.

The pipeline puts its inputs on the device that it noted when it was built. Source: `Pipeline.__init__`, `forward` and
`device_placement` in transformers/pipelines/base.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Instance
from devlint.placement.domain.lattice import CPU
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import Moved, Stored
    from devlint.placement.domain.scope import Scope

_PIPELINE = "transformers.pipeline"
_MODEL = ".model"
_Key = tuple[str, str]
"""A class or a definition, and a path in the source's words."""


@dataclass(slots=True)
class ModelsOfPipelines:
    _pipelines: dict[_Key, Stored] = field(default_factory=dict)
    _told: set[_Key] = field(default_factory=set)
    """Pipelines of which a device is stored as well."""
    _moves: list[Moved] = field(default_factory=list)

    def stored(self, event: Stored) -> None:
        if isinstance(event.value, Instance) and event.value.type_name == _PIPELINE:
            self._pipelines.setdefault(_key(event.scope, event.target), event)
        elif event.target.endswith(".device"):
            self._told.add(_key(event.scope, event.target.removesuffix(".device")))

    def moved(self, event: Moved) -> None:
        if event.moves and event.receiver_text.endswith(_MODEL) and event.target != CPU:
            self._moves.append(event)

    def drafts(self) -> Iterator[Draft]:
        told: set[_Key] = set()
        for event in self._moves:
            holder = event.receiver_text.removesuffix(_MODEL)
            key = _key(event.scope, holder)
            built = self._pipelines.get(key)
            if built is None or key in self._told or key in told or event.scope.role is Role.TEST:
                continue
            told.add(key)
            yield Draft(
                node=event.node,
                scope=event.scope,
                message=f"`{event.receiver_text}` is moved alone: the pipeline goes on putting its inputs on the "
                f"device that it was built with, `{holder}.device`",
                confidence=Confidence.MEDIUM,
                trace=(DraftStep(built.node, built.scope, "the pipeline is built here"),),
                repair=Repair(Applicability.SUGGESTION, f"set `{holder}.device` as well, or build it with `device=`"),
            )


def _key(scope: Scope, path: str) -> _Key:
    own = path.startswith("self.") and scope.class_name is not None
    return (scope.class_name or "" if own else scope.qualname), path
