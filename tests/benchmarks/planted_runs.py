"""Planted bugs, run: programs composed of healthy pieces with one bug each, and as many without.

    python -m tests.benchmarks.planted_runs [--planted 300] [--healthy 300] [--seed 0] [--keep DIRECTORY] [--only KIND]
    ... --device cuda           on a real device; kinds that need a second one are left out where there is none

Each program goes the way of ``devlint confirm``, every run forked off one process. A planted bug counts as
confirmed where a confirmed finding is at its line, or at the line where it meets something and with an operand that
comes from its line; what is shown of two operands has to say where both come from. Anything confirmed of a program
without a bug is false. The last column is what the static half alone shows of the bug at its usual thresholds.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from devlint.check import Request
from devlint.configuration.config import Overrides
from devlint.confirm import ConfirmRequest, confirm
from devlint.finding import Confidence, Finding, Operand, Severity, VerdictState
from devlint.pipeline.result import Result
from devlint.runtime import entries
from devlint.runtime.nursery import Nursery
from devlint.runtime.placements import Placement, Wish, parse_device
from tests.benchmarks.composing.program import Composed, composed

OUTCOMES = ("right", "one place", "wrong place", "not confirmed", "did not run")
_ON_ANOTHER = ("index written in",)
"""What only shows where the first device is not the one under test."""


@dataclass
class Tally:
    outcomes: Counter[str] = field(default_factory=Counter)
    besides: int = 0
    static: int = 0


def run(program: Composed, name: str, directory: Path, nursery: Nursery, wish: Wish) -> Result:
    """What ``devlint confirm`` says of the program on the device wished for."""
    path = directory / f"{name}.py"
    path.write_text(program.text, "utf-8")
    check = Request((path.name,), directory, Overrides({}, None, isolated=True), jobs=1)
    placements = (Placement.FIRST, Placement.SECOND) if program.kind in _ON_ANOTHER else (Placement.FIRST,)
    request = ConfirmRequest(check, (entries.built(f"{name}:program"),), wish, placements=placements, timeout=120)
    return confirm(request, nursery=nursery)[0]


def is_confirmed(finding: Finding) -> bool:
    return finding.verdict is not None and finding.verdict.state is VerdictState.CONFIRMED


def places_of(operand: Operand) -> set[int]:
    return {place.line for place in (operand.born, operand.moved, operand.computed) if place is not None}


def is_right(finding: Finding, program: Composed) -> bool:
    """Whether the finding is about the planted bug."""
    lines = set(range(finding.place.line, finding.place.end_line + 1))
    if lines & program.born:
        return True
    operands = () if finding.verdict is None else finding.verdict.operands
    return bool(lines & program.met) and any(places_of(operand) & program.born for operand in operands)


def outcome_of(result: Result, program: Composed) -> str:
    if result.not_run:
        return "did not run"
    seen = [finding for finding in result.findings if is_confirmed(finding)]
    right = [finding for finding in seen if is_right(finding, program)]
    if not seen:
        return "not confirmed"
    if not right:
        return "wrong place"
    # A finding that is not about two operands that met has nothing to say of a second one.
    whole = any(all(map(places_of, f.verdict.operands)) for f in right if f.verdict is not None)
    return "right" if whole else "one place"


def is_shown_unasked(finding: Finding, program: Composed) -> bool:
    """Whether the static half shows it by itself."""
    if finding.origin != "static" or finding.severity < Severity.WARNING or finding.confidence < Confidence.MEDIUM:
        return False
    lines = {finding.place.line, *(step.place.line for step in finding.trace)}
    return bool(lines & program.born) or finding.place.line in program.met


def besides(result: Result, program: Composed) -> list[Finding]:
    """What is confirmed and has nothing to do with the planted bug."""
    near = program.born | program.met
    return [
        finding
        for finding in result.findings
        if is_confirmed(finding) and finding.severity > Severity.NOTE
        if not is_right(finding, program) and finding.place.line not in near
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--planted", type=int, default=300)
    parser.add_argument("--healthy", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="The number to begin with, to go on where a run stopped.")
    parser.add_argument("--minutes", type=float, default=0, help="Stop then, and tell of what has run.")
    parser.add_argument("--only", default="", help="Kinds with this in their name.")
    parser.add_argument("--device", type=parse_device, default=Wish("sim"), help="As of `devlint confirm`; [sim].")
    parser.add_argument("--keep", type=Path, help="Keep the programs there that come out otherwise than they should.")
    options = parser.parse_args()
    started = time.perf_counter()
    lacking = options.device.machine == "cuda" and cards() < 2
    tallies: dict[str, Tally] = defaultdict(Tally)
    healthy = false = 0
    with tempfile.TemporaryDirectory(prefix="planted-") as scratch, Nursery() as nursery:
        for number, planted in in_turn(options.first, options.planted, options.healthy):
            if options.minutes and time.perf_counter() - started > 60 * options.minutes:
                print(f"stopped after {options.minutes:g} min")
                break
            program = composed(random.Random(f"{options.seed} {number} {planted}"), number, planted)
            if options.only not in program.kind or (lacking and program.kind in _ON_ANOTHER):
                continue
            name = f"{'planted' if planted else 'healthy'}_{number}"
            result = run(program, name, Path(scratch), nursery, options.device)
            said = planted_said(result, program, tallies) if planted else healthy_said(result)
            healthy += not planted
            false += bool(said and not planted)
            if said:
                told = f"{name} ({program.kind}, template {program.template}): {said}"
                print(told, flush=True)
                _keep(options.keep, name, program, told)
    print(table(tallies))
    print(f"\nhealthy: {healthy} programs, {false} with something confirmed or not run")
    print(f"{time.perf_counter() - started:.0f} s, seed {options.seed}")


def cards() -> int:
    """How many CUDA devices there are. Another process asks: a forked one cannot use CUDA that its parent has begun."""
    ask = "import torch; print(torch.cuda.device_count())"
    return int(subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout)


def in_turn(first: int, planted: int, healthy: int) -> Iterator[tuple[int, bool]]:
    """Number, and whether it has a bug."""
    for number in range(first, max(planted, healthy)):
        if number < planted:
            yield number, True
        if number < healthy:
            yield number, False


def planted_said(result: Result, program: Composed, tallies: dict[str, Tally]) -> str:
    """What is not as it should be with a planted program; counts it."""
    tally, outcome, more = tallies[program.kind], outcome_of(result, program), besides(result, program)
    tally.outcomes[outcome] += 1
    tally.besides += bool(more)
    tally.static += any(is_shown_unasked(finding, program) for finding in result.findings)
    if outcome == "right" and not more:
        return ""
    told = [f"{f.place.line} {f.code}: {f.message}" for f in (more or result.findings) if is_confirmed(f)]
    where = f"planted at {sorted(program.born)}, met at {sorted(program.met)}"
    return f"{outcome}{' and besides' if more else ''}; {where}; {result.not_run} {told}"


def healthy_said(result: Result) -> str:
    if result.not_run:
        return f"did not run: {result.not_run}"
    seen = [f for f in result.findings if is_confirmed(f) and f.severity > Severity.NOTE]
    return "; ".join(f"{f.place.line} {f.code} {f.message}" for f in seen)


def _keep(directory: Path | None, name: str, program: Composed, told: str) -> None:
    if directory is not None:
        os.makedirs(directory, exist_ok=True)
        (directory / f"{name}.py").write_text(f"{program.text}\n# {told}\n", "utf-8")


def table(tallies: dict[str, Tally]) -> str:
    head = f"{'planted':<38}{'runs':>6}" + "".join(f"{name:>15}" for name in OUTCOMES) + f"{'besides':>9}{'static':>8}"
    rows = [head]
    total = Tally()
    for kind, tally in sorted(tallies.items()):
        rows.append(_row(kind, tally))
        total.outcomes += tally.outcomes
        total.besides += tally.besides
        total.static += tally.static
    return "\n".join([*rows, _row("all", total)])


def _row(kind: str, tally: Tally) -> str:
    counts = "".join(f"{tally.outcomes[name]:>15}" for name in OUTCOMES)
    return f"{kind:<38}{tally.outcomes.total():>6}{counts}{tally.besides:>9}{tally.static:>8}"


if __name__ == "__main__":
    main()
