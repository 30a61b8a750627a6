"""Findings and runs in, findings with verdicts out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from devlint.finding import Finding, Operand, Place, Verdict, VerdictState
from devlint.runtime.isolation import Run
from devlint.runtime.joining import join, strays_of, touches
from devlint.runtime.observation import Observation, Seen, Spot
from devlint.runtime.placements import Placement
from devlint.runtime.predictions import prediction_of
from devlint.runtime.watching import Watchlist

Unforeseen = list[tuple[Run, Observation]]

Show = Callable[[str], str]
"""From the path of a frame to the path in findings."""


def judge(
    findings: tuple[Finding, ...], runs: Sequence[Run], watch: Watchlist, show: Show
) -> tuple[tuple[Finding, ...], Unforeseen]:
    """Every finding with its verdict, and the observations that no finding foretold."""
    joined, unforeseen = join(findings, runs, watch)
    judged = tuple(
        replace(finding, verdict=_verdict(finding, joined[number], runs, watch, show))
        for number, finding in enumerate(findings)
    )
    return judged, unforeseen


def confirmed(run: Run, observation: Observation, show: Show) -> Verdict:
    """The verdict that one observation amounts to."""
    return Verdict(
        VerdictState.CONFIRMED,
        device=run.device,
        simulated=run.simulated,
        entry=run.job.entry.name,
        error=observation.message or None,
        reason="" if observation.message else (observation.detail or observation.kind.replace("-", " ")),
        operands=tuple(operand_of(seen, show) for seen in observation.operands),
    )


def stray_of(run: Run, observation: Observation) -> Seen | None:
    """The operand that is not where the run is; which of two the device's message names says nothing about that."""
    return next(iter(strays_of(run, observation)), None)


def is_echo(run: Run, observation: Observation) -> bool:
    """Whether the stray operand derives from one that had been brought over, so that its place proves nothing."""
    stray = stray_of(run, observation)
    return observation.repaired if stray is None else stray.repaired


def operand_of(seen: Seen, show: Show) -> Operand:
    """An operand with its places as reports show them."""
    ways = (seen.born, seen.moved, computed(seen), kept(seen))
    places = [None if spot is None else place_of(spot, show) for spot in ways]
    return Operand("" if seen.name in _ROLES else seen.name, seen.device, seen.shape, seen.dtype, *places)


def computed(seen: Seen) -> Spot | None:
    """Where a value was computed of others: not where it was made of none, and not where it was moved."""
    told = [(spot.path, spot.line, spot.column) for spot in (seen.born, seen.moved) if spot is not None]
    made = seen.made
    return made if made is not None and (made.path, made.line, made.column) not in told else None


def kept(seen: Seen) -> Spot | None:
    """Where a value became an attribute, if that is not the line that made it."""
    told = [(spot.path, spot.line) for spot in (seen.born, seen.moved, seen.made) if spot is not None]
    return seen.kept if seen.kept is not None and (seen.kept.path, seen.kept.line) not in told else None


_ROLES = ("self", "other")
"""Names that operations have for their arguments, and that say nothing to their caller."""


def name_of(seen: Seen) -> str:
    """`` `hidden` ``, or ``a value`` where nothing in the program names it."""
    return "a value" if not seen.name or seen.name in _ROLES else f"`{seen.name}`"


def place_of(spot: Spot, show: Show) -> Place:
    """A spot as a place: where its end is not known, one character; column 0 where that is not known."""
    column = spot.column
    end_column = spot.end_column or column + 1
    return Place(show(spot.path), spot.line, column, spot.end_line, end_column)


def _verdict(
    finding: Finding, seen: list[tuple[Run, Observation]], runs: Sequence[Run], watch: Watchlist, show: Show
) -> Verdict:
    # That operands met says more than what became of one of them.
    for run, observation in sorted(seen, key=lambda told: told[1].kind == "strayed"):
        if not is_echo(run, observation):
            return confirmed(run, observation, show)
    number = watch.number(finding.place)
    reached = [run for run in runs if number in run.ran]
    if not reached:
        return _not_reached(finding, runs, watch)
    deciding = reached[0]
    reason = next(_doubts(finding, seen, reached, watch), "")
    return Verdict(
        VerdictState.INCONCLUSIVE if reason else VerdictState.REFUTED,
        device=", ".join(dict.fromkeys(run.device for run in reached)),
        simulated=any(run.simulated for run in reached),
        entry=deciding.job.entry.name,
        reason=reason,
    )


def _doubts(
    finding: Finding, seen: list[tuple[Run, Observation]], reached: list[Run], watch: Watchlist
) -> Iterator[str]:
    """Why that nothing happened proves nothing."""
    prediction = prediction_of(finding.code)
    if seen:
        yield "seen only of values that had been brought over before"
    if prediction.unsettled and not (prediction.sanitized and any(run.job.sanitize for run in reached)):
        yield prediction.unsettled
    done = {run.job.placement for run in reached}
    missing = [placement for placement in prediction.placements if placement not in done]
    if missing:
        yield f"it did not run {_or(PLACEMENT_WORDS[placement] for placement in missing)}"
    place = watch.absolute(finding.place)
    meets = watch.absolute(finding.trace[-1].place) if finding.trace else place
    for run in reached:
        for observation in run.observations:
            if observation.kind == "brought-over" and _MET & prediction.kinds:
                if any(touches(meets, spot) for spot in observation.spots):
                    yield "what meets there had been brought over after an earlier clash"
                continue
            if observation.kind not in ("not-simulated", prediction.idle):
                continue
            if any(touches(place, spot) for spot in observation.spots):
                named = observation.detail or observation.operation
                yield f"not simulated: {named}" if observation.kind == "not-simulated" else observation.message
    ran = {number for run in reached for number in run.ran}
    for step in finding.trace:
        if watch.number(step.place) not in ran:
            yield f"what happens at {step.place.path}:{step.place.line} did not run"
    for run in reached:
        if run.state != "ran":
            yield f"the run on {run.device} was not whole: {run.reason}"


_MET = frozenset({"clash", "index"})

PLACEMENT_WORDS = {
    Placement.FIRST: "on the device asked for",
    Placement.SECOND: "on a device that is not the current one",
    Placement.CPU: "without an accelerator",
}


def _or(words: Iterator[str]) -> str:
    return " or ".join(words)


def _not_reached(finding: Finding, runs: Sequence[Run], watch: Watchlist) -> Verdict:
    """With the entry that came near: it ran the function, and not this line of it."""
    path, scope = watch.absolute(finding.place).path, finding.scope
    for run in runs:
        if any(file == path and _is_within(entered, scope) for file, entered in run.entered):
            ran = f"`{scope}` ran" if scope else "the module was imported"
            reason = f"{ran}, but not this line"
            name = run.job.entry.name
            return Verdict(VerdictState.NOT_REACHED, run.device, run.simulated, name, reason=reason)
    if not any(run.state == "ran" for run in runs):
        return Verdict(VerdictState.NOT_REACHED, reason="no entry ran to its end")
    return Verdict(VerdictState.NOT_REACHED, reason=f"nothing that ran calls `{scope}`" if scope else "none of it ran")


def _is_within(entered: str, scope: str) -> bool:
    return entered == scope or (bool(scope) and entered.startswith(f"{scope}."))
