"""What each rule predicts: the kinds of observation that confirm it, and the placements that settle it.

One row a rule, after the column "confirm" of the rules' pages. Kinds are those of ``devlint.runtime.observation``.
"""

from __future__ import annotations

from dataclasses import dataclass

from devlint.runtime.placements import Placement

FIRST, SECOND, CPU = Placement.FIRST, Placement.SECOND, Placement.CPU

MEETINGS = frozenset({"clash", "index", "strayed"})
"""Operands on two devices, or work that lands on the CPU inside a forward on an accelerator."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a run should show if the finding is true."""

    kinds: frozenset[str]
    placements: tuple[Placement, ...] = (FIRST,)
    unsettled: str = ""
    """Why a run in which nothing happened refutes nothing; empty if it does refute."""
    sanitized: bool = False
    """Whether it takes a run under the CUDA sanitizer."""
    compares: bool = False
    """Whether the finding is a comparison, and what it comes to is the question."""
    idle: str = ""
    """The kind of observation that says: there was nothing to do at the place, so that silence proves nothing."""
    of_module: bool = False
    """Whether it is about a whole Module: its tensors are made somewhere in its constructor, and clash inside of the
    call where the trace ends."""
    place_only: bool = False
    """Whether only what happens at the finding's own place counts, not what happens to values made there."""


def _at(*kinds: str) -> frozenset[str]:
    return frozenset(kinds)


PREDICTIONS: dict[str, Prediction] = {
    "DEV101": Prediction(MEETINGS),
    "DEV102": Prediction(_at("error", "invalid-device", "elsewhere", "no-accelerator"), (FIRST, CPU), place_only=True),
    "DEV103": Prediction(_at("generator")),
    "DEV104": Prediction(MEETINGS, of_module=True),
    "DEV201": Prediction(_at("discarded-transfer", "clash", "index"), idle="stayed"),
    "DEV202": Prediction(_at("lost-parameter")),
    "DEV203": Prediction(_at("unreturned"), place_only=True),
    "DEV204": Prediction(_at("attribute", "error"), place_only=True),
    "DEV205": Prediction(_at("clash", "index", "elsewhere"), (SECOND,)),
    "DEV206": Prediction(MEETINGS | _at("left-behind")),
    "DEV207": Prediction(MEETINGS),
    "DEV208": Prediction(MEETINGS),
    "DEV301": Prediction(MEETINGS | _at("invalid-device", "elsewhere"), (FIRST, SECOND)),
    "DEV302": Prediction(MEETINGS | _at("no-accelerator", "invalid-device", "elsewhere"), (CPU, SECOND)),
    "DEV303": Prediction(_at("visible-devices", "invalid-device")),
    "DEV304": Prediction(_at("no-accelerator", "probe"), (CPU,)),
    "DEV305": Prediction(
        _at("comparison"), (FIRST, CPU), "no device of the kind that is named was compared", compares=True
    ),
    "DEV306": Prediction(MEETINGS | _at("elsewhere", "no-accelerator"), (SECOND, CPU)),
    "DEV307": Prediction(_at("default-device"), place_only=True),
    "DEV308": Prediction(MEETINGS | _at("elsewhere"), (SECOND,), "what the caller passed was not compared"),
    "DEV309": Prediction(_at("invalid-device")),
    "DEV310": Prediction(_at("clash", "index", "elsewhere"), (SECOND,)),
    "DEV311": Prediction(MEETINGS | _at("elsewhere"), (SECOND,), "what the caller passed was not compared"),
    "DEV312": Prediction(_at("no-accelerator", "error"), (CPU,)),
    "DEV313": Prediction(_at("invalid-device"), (SECOND,), "the run had no process of a rank beyond its accelerators"),
    "DEV314": Prediction(MEETINGS | _at("elsewhere"), (SECOND,), "what the caller passed was not compared"),
    "DEV401": Prediction(MEETINGS),
    "DEV402": Prediction(_at("index", "clash")),
    "DEV403": Prediction(_at("host-only")),
    "DEV404": Prediction(_at("host-only", "clash")),
    "DEV405": Prediction(MEETINGS),
    "DEV406": Prediction(_at("collective", "host-only", "clash"), unsettled="no collective of NCCL ran"),
    "DEV407": Prediction(MEETINGS),
    "DEV501": Prediction(MEETINGS | _at("left-behind")),
    "DEV502": Prediction(MEETINGS | _at("left-behind")),
    "DEV503": Prediction(_at("load"), (CPU,), "the file that was loaded need not come from an accelerator"),
    "DEV504": Prediction(MEETINGS | _at("stale-device")),
    "DEV505": Prediction(MEETINGS),
    "DEV601": Prediction(_at("stream"), sanitized=True),
    "DEV602": Prediction(_at("early-read")),
    "DEV603": Prediction(_at("other-stream"), (SECOND,)),
    "DEV604": Prediction(_at("worker"), unsettled="the run started no worker process"),
    "DEV701": Prediction(_at("strayed", "copy-per-step"), unsettled="what a copy costs is not measured"),
    "DEV702": Prediction(_at("copy-per-step")),
    "DEV703": Prediction(_at("host-sync")),
    "DEV704": Prediction(_at("copy-per-step")),
    "DEV705": Prediction(_at("pageable-copy")),
}

WITHOUT_PREDICTION = Prediction(frozenset(), unsettled="no run can tell")


def prediction_of(code: str) -> Prediction:
    """What a rule predicts; nothing for the linter's own rules."""
    return PREDICTIONS.get(code, WITHOUT_PREDICTION)


def wanted(codes: set[str]) -> tuple[Placement, ...]:
    """The placements that settle findings of these codes, the first always among them."""
    named = {placement for code in codes for placement in prediction_of(code).placements} | {FIRST}
    return tuple(placement for placement in Placement if placement in named)
