"""The places whose running matters to a verdict: each finding's own, and the steps of its trace."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from devlint.finding import Finding, Place


@dataclass(frozen=True)
class Watchlist:
    """Absolute places in a fixed order: a run tells by number which of them ran."""

    places: tuple[Place, ...]
    _numbers: dict[Place, int] = field(repr=False)
    _cwd: Path = field(repr=False)
    _known: dict[Place, Place] = field(default_factory=dict, repr=False, compare=False)
    """What has been asked for: every pair of a finding and an observation asks, and to find a file takes long."""

    @classmethod
    def of(cls, findings: Iterable[Finding], cwd: Path) -> Watchlist:
        numbers: dict[Place, int] = {}
        for finding in findings:
            for place in (finding.place, *(step.place for step in finding.trace)):
                numbers.setdefault(absolute(place, cwd), len(numbers))
        return cls(tuple(numbers), numbers, cwd)

    def number(self, place: Place) -> int:
        return self._numbers[self.absolute(place)]

    def absolute(self, place: Place) -> Place:
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = absolute(place, self._cwd)
        return known


def absolute(place: Place, cwd: Path) -> Place:
    """The same place by the real path of its file, as frames have it."""
    return replace(place, path=os.path.realpath(os.path.join(cwd, place.path)))
