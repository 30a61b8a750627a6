"""Findings that no rule foretold: what a run saw go wrong, under the code of the rule that speaks of such things."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from devlint.finding import Confidence, Finding, Place, Severity, TraceStep
from devlint.runtime.isolation import Run
from devlint.runtime.observation import Observation, Seen, Spot
from devlint.runtime.verdicts import Show, computed, confirmed, is_echo, kept, name_of, place_of, stray_of


@dataclass(frozen=True, slots=True)
class Reported:
    """The code for a kind of observation, and its severity where that is not the rule's own."""

    code: str
    severity: Severity | None = None


MOST_CALLS = 3
"""Calls shown that lead to a meeting."""
MOST_ORIGINS = 4
"""Places shown that a stray operand of one operation came from, time after time."""
ANOTHER_TIME = "another time "

_MEETINGS = ("clash", "index")
_BY_KIND = {
    "index": Reported("DEV402"),
    "host-only": Reported("DEV404"),
    "generator": Reported("DEV103"),
    "load": Reported("DEV503"),
    "invalid-device": Reported("DEV309"),
    "attribute": Reported("DEV204"),
    "lost-parameter": Reported("DEV202"),
    "copy-per-step": Reported("DEV704"),
    "host-sync": Reported("DEV703"),
    "stream": Reported("DEV601"),
    "early-read": Reported("DEV602"),
    "pageable-copy": Reported("DEV705"),
    "worker": Reported("DEV604"),
}


def runtime_findings(
    unforeseen: Iterable[tuple[Run, Observation]],
    files: frozenset[str],
    rules: Mapping[str, tuple[str, Severity]],
    show: Show,
) -> list[Finding]:
    """One finding a cause. ``files``: the real paths reported on; ``rules``: name and severity of each code."""
    findings: dict[tuple[str, str, int, int], Finding] = {}
    for run, observation in unforeseen:
        stray = stray_of(run, observation)
        reported = _reported(observation, stray)
        if reported is None or is_echo(run, observation):
            continue
        spot = _spot(reported.code, observation, stray, files)
        if spot is not None:
            key = (reported.code, spot.path, spot.line, spot.column)
            finding = _finding(reported, spot, run, observation, files, rules, show)
            findings[key] = with_another_origin(findings[key], finding) if key in findings else finding
    return list(findings.values())


def with_another_origin(finding: Finding, other: Finding) -> Finding:
    """The finding with the way of the other's stray operand, where it was made elsewhere.

    ``other`` is of the same place: an argument or an attribute that comes from another line each time needs a repair
    at each.
    """
    told = [step.place for step in finding.trace]
    origins = [way for way in _strays_in(other) if way[0].place not in told]
    if not origins or len(_strays_in(finding)) >= MOST_ORIGINS:
        return finding
    first, *following = origins[0]
    way = [replace(first, message=ANOTHER_TIME + first.message), *following]
    end = next((n for n, step in enumerate(finding.trace) if step.device is None), len(finding.trace))
    return replace(finding, trace=(*finding.trace[:end], *way, *finding.trace[end:]))


def _strays_in(finding: Finding) -> list[list[TraceStep]]:
    """The ways of operands that are not where the run is."""
    ways: list[list[TraceStep]] = []
    for step in finding.trace:
        if step.device is not None and (step.begins or not ways):
            ways.append([])
        if step.device is not None:
            ways[-1].append(step)
    device = None if finding.verdict is None else finding.verdict.device
    return [way for way in ways if way[0].device != device]


def _reported(observation: Observation, stray: Seen | None) -> Reported | None:
    """None for what is no defect by itself: an error, a tensor left behind that nothing met."""
    if observation.kind == "clash" and observation.phase == "optimizer":
        return Reported("DEV207")
    if observation.kind == "clash":
        return Reported(_cause(observation, stray))
    if observation.kind == "strayed" and observation.detail == "output":
        return Reported("DEV101", Severity.WARNING)
    if observation.kind == "discarded-transfer" and observation.detail == "statement":
        return Reported("DEV201")
    if observation.kind == "host-only" and "numpy" in observation.message + observation.operation:
        return Reported("DEV403")
    return _BY_KIND.get(observation.kind)


def _cause(observation: Observation, stray: Seen | None) -> str:
    """A clash by its cause: kept on ``self`` unregistered, made on the CPU in passing, or just two that met."""
    if stray is None or not stray.device.startswith("cpu"):
        return "DEV401"
    if stray.name.startswith("self.") and not stray.kept_well:
        return "DEV501"
    made = stray.born
    if observation.phase == "backward" and len(observation.operands) == 1 and made is not None:
        return "DEV101"  # what a backward of the program's own hands back meets nothing in the program
    met = observation.spots[0] if observation.spots else None
    if made is None or met is None or stray.moved is not None or _is_head(made):
        return "DEV401"
    return "DEV101" if (made.path, made.scope) == (met.path, met.scope) else "DEV401"


def _is_head(made: Spot) -> bool:
    """A place of no length stands for the function that a value came into."""
    return made.line == made.end_line and made.end_column <= made.column


def _spot(code: str, observation: Observation, stray: Seen | None, files: frozenset[str]) -> Spot | None:
    """Where the repair goes, within the files reported on: the birth, of what should have been made elsewhere."""
    if code in ("DEV101", "DEV501") and stray is not None and stray.born is not None and stray.born.path in files:
        return stray.born
    return next((spot for spot in observation.spots if spot.path in files), None)


def _finding(
    reported: Reported,
    spot: Spot,
    run: Run,
    observation: Observation,
    files: frozenset[str],
    rules: Mapping[str, tuple[str, Severity]],
    show: Show,
) -> Finding:
    name, severity = rules[reported.code]
    steps = [
        TraceStep(
            _on_its_line(place_of(where, show)), f"{name_of(operand)} was {word} here", operand.device, begins=not nth
        )
        for operand in observation.operands
        for nth, (word, where) in enumerate(_ways_of(operand))
    ]
    if observation.spots:
        met = "met here" if len(observation.operands) > 1 else "seen here"
        steps.append(TraceStep(_on_its_line(place_of(observation.spots[0], show)), met))
        steps += [
            TraceStep(_on_its_line(place_of(call, show)), "called here") for call in _calls_to(observation, files)
        ]
    place = _on_its_line(place_of(spot, show))
    return Finding(
        code=reported.code,
        name=name,
        severity=severity if reported.severity is None else reported.severity,
        confidence=Confidence.HIGH,
        message=_message(observation),
        place=place,
        scope=spot.scope,
        trace=tuple(steps),
        origin="runtime",
        verdict=confirmed(run, observation, show),
    )


def _calls_to(observation: Observation, files: frozenset[str]) -> list[Spot]:
    """The calls in the files reported on that led to where operands met, if a function met what others had made.

    What brings them together is often a call further out: a helper computes with what it is given.
    """
    if observation.kind not in _MEETINGS:
        return []
    met = observation.spots[0]
    if any(operand.born is not None and _is_in_same(operand.born, met) for operand in observation.operands):
        return []
    return [spot for spot in observation.spots[1 : MOST_CALLS + 1] if spot.path in files]


def _is_in_same(one: Spot, other: Spot) -> bool:
    return (one.path, one.scope) == (other.path, other.scope)


def _ways_of(operand: Seen) -> list[tuple[str, Spot]]:
    """What brought an operand where it is, first to last. What a call on the accelerator made is there by that call."""
    call = computed(operand)
    ways = [("made", operand.born), ("moved", operand.moved), ("computed", call), ("kept", kept(operand))]
    if call is not None and operand.device != "cpu":
        del ways[:2]
    return [(word, where) for word, where in ways if where is not None]


def _on_its_line(place: Place) -> Place:
    """Reports count columns from 1; where none is known, the line's beginning stands for it."""
    return place if place.column else replace(place, column=1, end_column=1)


def _message(observation: Observation) -> str:
    operands = [f"{name_of(operand)} on {operand.device}" for operand in observation.operands]
    told = observation.message.strip().split("\n", 1)[0] or observation.detail or observation.kind.replace("-", " ")
    if observation.kind in ("host-only", "generator"):
        named = observation.operands and observation.operands[0]
        return f"{name_of(named)} is on {named.device}: {told}" if named and named.name else told
    if len(operands) < 2:
        return told
    operation = observation.operation.removeprefix("aten.").partition(".")[0]
    return f"{operands[0]} meets {operands[1]} in `{operation}`: {told}"
