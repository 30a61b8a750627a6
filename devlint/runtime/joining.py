"""Which finding an observation speaks of: by where its operands come from, and by where it happened.

An observation counts for the findings that it fits best. What clashes inside of a called function also happens in its
caller's line; it says something of a finding there only if nothing nearer explains it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from functools import cache

from devlint.finding import Finding, Place
from devlint.runtime.isolation import Run
from devlint.runtime.observation import Observation, Seen, Spot
from devlint.runtime.placements import ACCELERATORS, Placement
from devlint.runtime.predictions import prediction_of
from devlint.runtime.watching import Watchlist


class Fit(IntEnum):
    """How well an observation fits a finding; the lower the better."""

    ORIGIN = 0
    """An operand was made or moved at the finding's place."""
    HERE = 1
    """It happened there."""
    TRACE = 2
    """An operand was made or moved at a step of the finding's trace."""
    MEETING = 3
    """It happened where the trace ends, to operands of which nobody knows where they were made."""
    CALLER = 4
    """It happened in something called there."""
    NAMED = 5
    """It happened to the very device that the finding names, after the finding's place had run."""
    SCOPE = 6
    """It happened in the same function, or to the process as a whole, after the finding's place had run."""


_OF_AN_OPERAND = (Fit.ORIGIN, Fit.TRACE)
_BY_NAME = (Fit.NAMED, Fit.SCOPE)

_NAMING = frozenset({"elsewhere", "invalid-device"})
_OF_THE_SCOPE = frozenset({"no-accelerator", "default-device"})


_STRAYED = {"DEV701": frozenset({"factory"})}
"""The one rule to which it matters that a tensor is made on the CPU, whatever comes of it."""
_HANDED_BACK = frozenset({"output", "beside"})

_DEVICE = re.compile(rf"\b(?:{'|'.join(ACCELERATORS)}):\d+\b")

Joined = dict[int, list[tuple[Run, Observation]]]
"""For each finding, by its number, what was seen of it."""


def join(
    findings: tuple[Finding, ...], runs: Iterable[Run], watch: Watchlist
) -> tuple[Joined, list[tuple[Run, Observation]]]:
    """The observations of each finding, and those that no finding foretold."""
    joined: dict[int, list[tuple[Fit, Run, Observation]]] = {number: [] for number in range(len(findings))}
    unforeseen: list[tuple[Run, Observation]] = []
    for run in runs:
        for observation in run.observations:
            chosen = _explaining(findings, run, observation, watch)
            if not chosen:
                unforeseen.append((run, observation))
            for number, fit in sorted(chosen.items()):
                joined[number].append((fit, run, observation))
    # What is known by a name alone is told of only where nothing was seen at the place itself.
    in_order = {n: sorted(seen, key=lambda each: each[0] in _BY_NAME) for n, seen in joined.items()}
    return {n: [(run, observation) for _, run, observation in seen] for n, seen in in_order.items()}, unforeseen


def _explaining(findings: tuple[Finding, ...], run: Run, observation: Observation, watch: Watchlist) -> dict[int, Fit]:
    """The numbers of the findings that fit best; of several strays each would clash alone, and has its own cause."""
    told = [n for n, finding in enumerate(findings) if foretold(finding, run, observation)]
    strays = strays_of(run, observation)
    fits = [(fit, n) for n in told if (fit := fit_of(findings[n], run, observation, watch, strays)) is not None]
    chosen = _best(fits, findings)
    for stray in strays if len(strays) > 1 else ():
        own = [(fit, n) for n in told if (fit := fit_of(findings[n], run, observation, watch, [stray])) is not None]
        # Its own expression tells it from its neighbours on the line.
        chosen |= _best([((apart, fit), n) for (fit, apart), n in own if fit in _OF_AN_OPERAND], findings)
    by_number = {n: fit for (fit, _), n in fits}
    return {n: by_number.get(n, Fit.ORIGIN) for n in chosen}


def _best(fits: Sequence[tuple[tuple[int, int], int]], findings: tuple[Finding, ...]) -> set[int]:
    """The numbers of the best fits: among rules about names of devices, among those about what meets, and among the
    others, since their repairs are different ones."""
    chosen: set[int] = set()
    for family in (_NAMES, _MEETINGS, ""):
        group = [(fit, n) for fit, n in fits if _family(findings[n]) == family]
        best = min(group, default=None)
        chosen |= {number for fit, number in group if best is not None and fit == best[0]}
    return chosen


_NAMES, _MEETINGS = "DEV3", "DEV4"


def _family(finding: Finding) -> str:
    return finding.code[:4] if finding.code.startswith((_NAMES, _MEETINGS)) else ""


def foretold(finding: Finding, run: Run, observation: Observation) -> bool:
    """Whether the finding's rule predicts such a thing on such a placement."""
    prediction = prediction_of(finding.code)
    if observation.kind not in prediction.kinds:
        return False
    # Work on the CPU that meets nothing on the accelerator and that nobody gets back is no defect but a cost.
    if observation.kind == "strayed" and observation.detail not in _STRAYED.get(finding.code, _HANDED_BACK):
        return False
    # What only another placement can show is no sign on the first, where such code is right.
    if Placement.FIRST in prediction.placements or run.job.placement in prediction.placements:
        return True
    # On a machine whose accelerator is of another kind CUDA is as absent as where there is none.
    return observation.kind == "no-accelerator"


def fit_of(
    finding: Finding, run: Run, observation: Observation, watch: Watchlist, strays: list[Seen]
) -> tuple[Fit, int] | None:
    """How the observation fits, and how many columns apart they are; None if they have nothing in common.

    Of its operands, ``strays`` count.
    """
    place, prediction = watch.absolute(finding.place), prediction_of(finding.code)
    happened = list(observation.spots[:1])
    tests: list[tuple[Fit, Place, list[Spot]]] = [(Fit.HERE, place, happened)]
    if not prediction.place_only:
        origins = [spot for operand in strays for spot in origins_of(operand)]
        tests += [(Fit.ORIGIN, place, origins), (Fit.CALLER, place, list(observation.spots[1:]))]
        tests += [(Fit.TRACE, step, origins) for step in _way_of_the_flagged(finding, watch)]
        if finding.trace and not any(True for operand in strays[:1] for _ in origins_of(operand)):
            tests.append((Fit.MEETING, watch.absolute(finding.trace[-1].place), happened))
        if prediction.of_module and any(operand.name.startswith("self.") for operand in strays):
            tests.append((Fit.CALLER, watch.absolute(finding.trace[-1].place), list(observation.spots[1:])))
    found = [
        (fit, _columns_apart(place, spot))
        for fit, place, spots in tests
        for spot in spots
        if touches(place, spot, finding.related_lines if fit in _OF_THE_STATEMENT else ())
        # A value comes into being in a part of the statement that returns it, and is not what is returned.
        and not (fit is Fit.TRACE and _is_part(spot, place))
    ]
    return min(found, default=None) or _fit_by_name(finding, run, observation, watch)


_OF_THE_STATEMENT = (Fit.ORIGIN, Fit.HERE, Fit.CALLER)


def _way_of_the_flagged(finding: Finding, watch: Watchlist) -> list[Place]:
    """The steps of the value that the finding's place belongs to; all of them where it belongs to none, as where two
    values meet. What the other value has gone through is the way of many more."""
    ways: list[list[Place]] = []
    for step in finding.trace:
        if step.begins or not ways:
            ways.append([])
        ways[-1].append(step.place)
    own = next((way for way in ways if finding.place in way), [step.place for step in finding.trace])
    return [watch.absolute(place) for place in own]


def _columns_apart(place: Place, spot: Spot) -> int:
    """0 where one lies in the other: of like expressions on a line, the call around a name is nearer than the next."""
    if place.line != place.end_line or spot.line != spot.end_line or place.line != spot.line or not spot.end_column:
        return abs(place.column - spot.column)
    inside = place.column <= spot.column and spot.end_column <= place.end_column
    around = spot.column <= place.column and place.end_column <= spot.end_column
    return 0 if inside or around else abs(place.column - spot.column)


def _is_part(spot: Spot, place: Place) -> bool:
    """Whether a spot lies in a place and is not all of it."""
    if not spot.column or not spot.end_column:
        return False
    start, end = (spot.line, spot.column), (spot.end_line, spot.end_column)
    first, last = (place.line, place.column), (place.end_line, place.end_column)
    return first <= start and end <= last and (first, last) != (start, end)


def _fit_by_name(finding: Finding, run: Run, observation: Observation, watch: Watchlist) -> tuple[Fit, int] | None:
    """Devices are plain values: where one was written down, nobody knows when it is used."""
    if watch.number(finding.place) not in run.ran:
        return None
    # An error that was raised before any operation knows no operands, only what it says.
    blind = not observation.operands
    if observation.kind in _NAMING or (blind and observation.kind == "clash"):
        named = set(_DEVICE.findall(finding.message))
        devices = {operand.device for operand in observation.operands} or set(_DEVICE.findall(observation.message))
        if named and (named & devices or not devices):
            return Fit.NAMED, 0
    of_scope = observation.kind in _OF_THE_SCOPE or (blind and observation.kind == "clash")
    if of_scope or _by_a_name_without_index(finding, run, observation):
        place = watch.absolute(finding.place)
        same = any(spot.scope == finding.scope and _same_file(place, spot) for spot in observation.spots)
        return (Fit.SCOPE, 0) if same or (of_scope and not observation.spots) else None
    return None


def _by_a_name_without_index(finding: Finding, run: Run, observation: Observation) -> bool:
    """Whether something landed on another accelerator than the one under test, as what is just called "cuda" does."""
    if not finding.code.startswith("DEV3") or _DEVICE.search(finding.message):
        return False
    return any(operand.device not in ("cpu", run.device) for operand in observation.operands)


def strays_of(run: Run, observation: Observation) -> list[Seen]:
    """The operands that are not where the run is; all of them where none is away, as what only the host may read."""
    away = [operand for operand in observation.operands if operand.device != run.device]
    return away or list(observation.operands)


def origins_of(operand: Seen) -> Iterator[Spot]:
    """Where an operand was made, moved and kept, as far as the recorder knows."""
    yield from (spot for spot in (operand.born, operand.moved, operand.made, operand.kept) if spot is not None)
    yield from operand.births


def touches(place: Place, spot: Spot, more_lines: tuple[int, ...] = ()) -> bool:
    """Whether a spot is in a place's statement: on its lines, and not in a part of the line beside it."""
    if not _same_file(place, spot):
        return False
    if spot.line > place.end_line or spot.end_line < place.line:
        return any(spot.line <= line <= spot.end_line for line in more_lines)
    if not spot.column or not spot.end_column or spot.line != spot.end_line or place.line != place.end_line:
        return True
    # A spot that ends before the place or begins after it is another expression - or the value assigned to it.
    return spot.end_column > place.column


def _same_file(place: Place, spot: Spot) -> bool:
    return _real(spot.path) == place.path


@cache
def _real(path: str) -> str:
    """Asked for every pair of a finding and an observation, of a few files."""
    return os.path.realpath(path)
