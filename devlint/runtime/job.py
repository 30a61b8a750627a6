"""What a child process is to run, as plain data that crosses between processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from devlint.finding import Place
from devlint.runtime.entries import Entry
from devlint.runtime.placements import Placement, Wish


@dataclass(frozen=True, slots=True)
class Job:
    """One entry on one placement, with all that the child must know."""

    entry: Entry
    placement: Placement
    wish: Wish
    places: tuple[Place, ...] = ()
    """The places of which the child tells whether they ran; paths are absolute."""
    comparisons: tuple[Place, ...] = ()
    """Comparisons of which the child tells what they come to; paths are absolute."""
    train: bool = False
    repair: bool = True
    sanitize: bool = False
    """Under PyTorch's CUDA sanitizer, which sees races between streams and makes everything slow."""
    timeout: float | None = None
    """Seconds of wall-clock time; None: no limit."""
    memory: int | None = None
    """Bytes of resident memory of all the run's processes; None: no limit."""

    def to_json(self) -> dict[str, Any]:
        return {
            "entry": self.entry.to_json(),
            "placement": self.placement.value,
            "machine": self.wish.machine,
            "index": self.wish.index,
            "kind": self.wish.kind,
            "places": [_row(place) for place in self.places],
            "comparisons": [_row(place) for place in self.comparisons],
            "train": self.train,
            "repair": self.repair,
            "sanitize": self.sanitize,
            "memory": self.memory,
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Job:
        return cls(
            Entry.from_json(fields["entry"]),
            Placement(fields["placement"]),
            Wish(fields["machine"], fields["index"], fields["kind"]),
            tuple(Place(*place) for place in fields["places"]),
            tuple(Place(*place) for place in fields["comparisons"]),
            fields["train"],
            fields["repair"],
            fields["sanitize"],
            memory=fields["memory"],
        )


def _row(place: Place) -> list[Any]:
    return [place.path, place.line, place.column, place.end_line, place.end_column]
