"""Two halves, one truth: programs written at random are linted and run, and what the two say is compared.

    python -m tests.benchmarks.differential [--programs 2000] [--seed 0] [--size 100] [--minutes M] [--keep DIRECTORY]

Every program runs on the CPU. It is run simulated on a device that is the current one; of each eighth file also on one
that is not: the programs name no device by its index, so that the second run repeats the first. An error of the static
half whose line ran and of which nothing was confirmed is *false*. A clash that the run saw, of which the static half
shows nothing by default, is *missed*: *local* if the operand that is elsewhere comes from the function where they meet,
else beyond it; *beside* in a program of which something else that fails is reported: often it follows from that, as all
that is made ``device=x.device`` of an ``x`` left behind. What is *strayed*, a result on the CPU that meets nothing,
does not fail, whichever half says it. ``--keep`` writes each program that fails unseen, or does not fail, with what was
said of it.
"""

from __future__ import annotations

import argparse
import ast
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path

from devlint.check import Request
from devlint.configuration.config import Overrides
from devlint.confirm import ConfirmRequest, confirm
from devlint.finding import Confidence, Finding, Place, Severity, VerdictState
from devlint.runtime import entries
from devlint.runtime.nursery import Nursery
from devlint.runtime.placements import Placement, Wish
from tests.benchmarks.generating.files import Batch, batches, of

_PLACEMENTS = ((Placement.FIRST, Placement.SECOND), *[(Placement.FIRST,)] * 7)
"""Of one file after the other."""
_SECONDS = 1800
"""Of a whole file's run, on a machine that is busy with other things."""


class NotRun(RuntimeError):
    """A batch did not come to its end, or to its beginning, and why."""


@dataclass(frozen=True)
class Said:
    """One thing that the halves say of a program: ``how`` as in the table."""

    how: str
    unit: int
    finding: Finding


@dataclass
class Tally:
    programs: int = 0
    clashing: int = 0
    reported: int = 0
    """Programs of which something that fails is reported."""
    said: Counter[str] = field(default_factory=Counter)
    codes: dict[str, Counter[str]] = field(default_factory=dict)

    def count(self, said: Said) -> None:
        self.said[said.how] += 1
        self.codes.setdefault(said.how, Counter())[said.finding.code] += 1


def compared(
    batch: Batch, name: str, directory: Path, nursery: Nursery, placements: tuple[Placement, ...] = _PLACEMENTS[0]
) -> list[Said]:
    """What both halves say of the programs of a batch. Raises RuntimeError where the driver did not run."""
    for suffix, text in (("main", batch.main), ("apart", batch.apart), ("driver", batch.driver)):
        (directory / f"{name}_{suffix}.py").write_text(text, "utf-8")
    files = (f"{name}_main.py", f"{name}_apart.py")
    check = Request(files, directory, Overrides({}, None, isolated=True), jobs=1)
    entry = entries.built(f"{name}_driver:program")
    request = ConfirmRequest(check, (entry,), Wish("sim"), placements=placements, timeout=_SECONDS)
    result = confirm(request, nursery=nursery)[0]
    if result.not_run:
        raise NotRun(result.not_run)
    owners = dict(zip(files, batch.owners, strict=True))
    scopes = Scopes(dict(zip(files, (batch.main, batch.apart), strict=True)))
    return [
        Said(how, owners[finding.place.path][finding.place.line - 1], finding)
        for finding in result.findings
        if (how := verdict(finding, scopes)) and finding.place.path in owners
    ]


def verdict(finding: Finding, scopes: Scopes) -> str:
    """``confirmed``, ``false``, ``missed local`` ...; empty for what counts for nothing: notes, what is not shown."""
    state = None if finding.verdict is None else finding.verdict.state
    where = "local" if is_local(finding, scopes) else "beyond"
    if finding.origin != "static":
        if finding.code == "DEV101" and finding.severity is Severity.WARNING:
            return f"strayed {where}"
        return f"missed {where}" if finding.severity > Severity.NOTE else ""
    if state is VerdictState.CONFIRMED and _strays(finding):
        return f"strayed {where}"
    if finding.confidence < Confidence.MEDIUM or finding.severity < Severity.WARNING:
        return f"hidden {where}" if state is VerdictState.CONFIRMED and finding.severity > Severity.NOTE else ""
    if state is VerdictState.CONFIRMED:
        return f"found {where}"
    label = "false" if state is VerdictState.REFUTED else str(None if state is None else state.value)
    return f"{label} {finding.severity.label}"


def _strays(finding: Finding) -> bool:
    """Whether the run saw nothing but a result on the CPU."""
    operands = () if finding.verdict is None else finding.verdict.operands
    return finding.code == "DEV101" and bool(operands) and all(operand.device == "cpu" for operand in operands)


class Scopes:
    """The function of each line of a batch's files: a method or function with all that stands inside of it."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._known = {path: dict(self._lines(ast.parse(text), "")) for path, text in texts.items()}

    def of(self, place: Place) -> str:
        return f"{place.path}:{self._known.get(place.path, {}).get(place.line, '')}"

    def _lines(self, node: ast.AST, owner: str) -> Iterator[tuple[int, str]]:
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.ClassDef):
                yield from self._lines(inner, f"{inner.name}.")
            elif isinstance(inner, ast.FunctionDef):
                for line in range(inner.lineno, (inner.end_lineno or inner.lineno) + 1):
                    yield line, owner + inner.name


def is_local(finding: Finding, scopes: Scopes) -> bool:
    """Whether one function shows it: the stray operand comes from the function where it is met."""
    operands = () if finding.verdict is None else finding.verdict.operands
    strays = [operand for operand in operands if operand.device.startswith("cpu")] or list(operands)
    places = [place for operand in strays for place in (operand.born, operand.moved, operand.computed) if place]
    met = [step.place for step in finding.trace[-1:]]
    return len({scopes.of(place) for place in (finding.place, *places, *met)}) == 1


def compared_all(options: argparse.Namespace) -> Tally:
    """All batches, until the time is over."""
    tally, started = Tally(), time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="differential-") as scratch, Nursery() as nursery:
        drawn = batches(options.seed, -(-options.programs // options.size), options.size)
        for (name, batch), placements in zip(drawn, cycle(_PLACEMENTS), strict=False):
            if options.minutes and time.perf_counter() - started > 60 * options.minutes:
                print(f"stopped after {options.minutes:g} min")
                break
            tally.programs += len(batch.units)
            try:
                said = compared(batch, name, Path(scratch), nursery, placements)
            except NotRun as error:
                print(f"not run        {name} {error}", flush=True)
                tally.said["not run"] += len(batch.units)
                continue
            tally.clashing += len({one.unit for one in said if one.how.split()[0] in ("found", "hidden", "missed")})
            reported = {one.unit for one in said if one.how.startswith("found")}
            tally.reported += len(reported)
            for one in said:
                if one.how.startswith("missed") and one.unit in reported:
                    one = replace(one, how=f"{one.how}, beside")
                tally.count(one)
                if one.how.startswith(_TOLD):
                    tell(one, batch, name, options.keep)
    return tally


_TOLD = ("false error", "hidden local", "missed local", "missed beyond")


def tell(said: Said, batch: Batch, name: str, directory: Path | None) -> None:
    """One line, and the program by itself."""
    place = said.finding.place
    print(f"{said.how:14} {name} {place.path}:{place.line} {said.finding.code} {said.finding.message}", flush=True)
    if directory is None:
        return
    directory.mkdir(parents=True, exist_ok=True)
    alone = of((batch.units[said.unit],), f"{name}_{said.unit}")
    texts = (("main", alone.main), ("apart", alone.apart), ("driver", alone.driver))
    for suffix, text in texts:
        (directory / f"{name}_{said.unit}_{suffix}.py").write_text(text, "utf-8")
    with (directory / "said.txt").open("a", encoding="utf-8") as out:
        line = (batch.main if place.path.endswith("_main.py") else batch.apart).splitlines()[place.line - 1].strip()
        out.write(f"{said.how}\t{name}_{said.unit}\t{said.finding.code}\t{line}\t{said.finding.message}\n")


def table(tally: Tally) -> str:
    """What was said, by how often, with the codes; then the shares that are asked for."""
    rows = [f"{tally.programs} programs, {tally.clashing} with something that fails"]
    for how, count in sorted(tally.said.items()):
        codes = ", ".join(f"{code} {times}" for code, times in tally.codes[how].most_common(8))
        rows.append(f"{how:24}{count:7}  {codes}")
    for where in ("local", "beyond"):
        found = tally.said[f"found {where}"]
        lost = sum(tally.said[f"{how} {where}{beside}"] for how in ("missed", "hidden") for beside in ("", ", beside"))
        share = f"{100 * found / (found + lost):.1f} %" if found + lost else "-"
        rows.append(f"reported of what clashes, {where}: {share} of {found + lost}")
    share = f"{100 * tally.reported / tally.clashing:.1f} %" if tally.clashing else "-"
    rows.append(f"programs that fail of which something is reported: {share} of {tally.clashing}")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=100, help="programs of one file")
    parser.add_argument("--minutes", type=float, default=0, help="stop then, and tell of what has run")
    parser.add_argument("--keep", type=Path, help="keep the programs there on which the halves differ")
    options = parser.parse_args()
    started = time.perf_counter()
    tally = compared_all(options)
    print(table(tally))
    print(f"{time.perf_counter() - started:.0f} s, seed {options.seed}")


if __name__ == "__main__":
    main()
