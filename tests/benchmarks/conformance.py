"""Who is right about which operands may meet: devlint's judge, its simulated machine, PyTorch's FakeTensorMode.

    python tests/benchmarks/conformance.py               missed and false clashes by source of evidence, side by side
    python tests/benchmarks/conformance.py --verbose     each difference, with what the evidence says
    python tests/benchmarks/conformance.py --markdown    the table as it stands in the README
    python tests/benchmarks/conformance.py --json        each row, its facts and the three answers
    python tests/benchmarks/conformance.py --other ROWS RECORD    the same over other rows and a record of them

The rows are those of fixtures/semantics/rows.jsonl. What counts as evidence, and what it can settle, is told in
tests/semantics/conformance/evidence.py. Rows without any are printed apart and count for nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

from devlint.semantics import Operation, function
from devlint.semantics.record.files import read_rows
from devlint.semantics.record.row import Row
from tests.semantics.conformance import answers as oracles
from tests.semantics.conformance.comparing import Result, compare, known_differences
from tests.semantics.conformance.evidence import (
    RECORDED,
    SOURCES,
    Fact,
    Source,
    best,
    facts,
    nearest,
    of_record,
    rows,
    unsettled,
)

Answers = Mapping[str, Sequence[oracles.Answer]]
Known = Mapping[str, Mapping[Source, Fact]]

NAMES = {"judge": "the judge", "simulated": "simulated machine", "fake": "FakeTensorMode"}
HEAD = ("evidence", "", "rows", "clashes", "false clashes", "missed clashes", "cannot say", "wrong device")


def asked(chosen: list[Row]) -> Answers:
    """All three, over the same rows."""
    return {
        "judge": [oracles.judged(row) for row in chosen],
        "simulated": oracles.simulated(chosen),
        "fake": oracles.faked(chosen),
    }


def lines(chosen: list[Row], known: Known, found: Answers) -> list[tuple[str, ...]]:
    """One line for each source and oracle, and over the best source of each row, with and without the build."""
    made = []
    groups: dict[str, Sequence[Source]] = {source: (source,) for source in SOURCES}
    groups |= {"all but the build": [s for s in SOURCES if s != "build"], "all": SOURCES}
    for name, sources in groups.items():
        for oracle, given in found.items():
            counts: Counter[Result] = Counter()
            clashes = 0
            for row, answer in zip(chosen, given, strict=True):
                fact = best({s: f for s, f in known[row.key].items() if s in sources})
                if fact is not None:
                    clashes += fact.clash
                    counts[compare(fact, answer)] += 1
            total = sum(counts.values())
            if total:
                cells = (str(total), str(clashes), share(counts["false"], total - clashes))
                cells += (share(counts["missed"], clashes), str(counts["silent"]), str(counts["device"]))
                made.append((name, NAMES[oracle], *cells))
    return made


def share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.1f} %)" if whole else str(part)


def table(made: list[tuple[str, ...]], markdown: bool) -> str:
    if markdown:
        body = ["| " + " | ".join(line) + " |" for line in (HEAD, ("---", "---", *["---:"] * 6), *made)]
        return "\n".join(body)
    widths = [max(len(line[i]) for line in (HEAD, *made)) for i in range(len(HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in (HEAD, *made)
    )


def about_evidence(chosen: list[Row], known: Known, found: Answers) -> list[str]:
    """What the evidence is worth: rows without any, sources beside each other, tables read off a source."""
    bare = [answer.verdict for row, answer in zip(chosen, found["judge"], strict=True) if not known[row.key]]
    said = ", ".join(f"{number} {verdict}" for verdict, number in Counter(bare).most_common())
    told = [f"derived, counted for nothing: {len(bare)} rows without evidence (the judge: {said or 'nothing'})"]
    for a, b in combinations(SOURCES, 2):
        both = [(k[a], k[b]) for k in known.values() if a in k and b in k]
        if both:
            apart = sum(one.clash != other.clash for one, other in both)
            told.append(f"{a} and {b} settle {len(both)} rows both, {apart} differently")
    off = sum("build" in known[row.key] and _read_off_the_build(row.operation) for row in chosen)
    told.append(f"{off} of the build's rows call functions of which some fact (tag C) was read off that build")
    return told


def _read_off_the_build(operation: str) -> bool:
    name = operation if operation.startswith("torch.") else f"torch.{operation}"
    found = function(name) if operation.startswith(("torch.", "Tensor.")) else None
    return isinstance(found, Operation) and found.provenance == "C"


def records() -> list[str]:
    """The record of each source."""
    found = []
    for source in RECORDED:
        path = nearest(source)
        found.append(
            f"{source}: {path.name}, settles nothing of {len(unsettled(path))} rows" if path else f"{source}: no record"
        )
    return found


def told(chosen: list[Row], known: Known, found: Answers) -> None:
    """Each difference of judge and simulation, with its reason where it is a known one."""
    for oracle in ("judge", "simulated"):
        why = known_differences(oracle)
        for row, answer in zip(chosen, found[oracle], strict=True):
            fact = best(known[row.key])
            if fact is None or (result := compare(fact, answer)) == "agrees":
                continue
            reason = answer.detail if result == "silent" else why.get(row.code, "NOT LISTED")
            print(f"{oracle}: {result}: {row.code}\n    {fact.source}: {fact.kind or fact.devices}; {reason}")


def as_json(chosen: list[Row], known: Known, found: Answers) -> None:
    for i, row in enumerate(chosen):
        of_row = {s: {"clash": f.clash, "kind": f.kind, "devices": f.devices} for s, f in known[row.key].items()}
        said = {o: {"verdict": a[i].verdict, "detail": a[i].detail, "devices": a[i].devices} for o, a in found.items()}
        print(json.dumps({"code": row.code, "operation": row.operation, "facts": of_row, "answers": said}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--other", nargs=2, type=Path, metavar=("ROWS", "RECORD"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    known: Known
    if options.other:
        settled = of_record(
            options.other[1], "build" if "no GPU" in options.other[1].read_text("utf-8")[:400] else "gpu"
        )
        chosen = read_rows(options.other[0])
        known = {row.key: {settled[row.key].source: settled[row.key]} if row.key in settled else {} for row in chosen}
    else:
        chosen, known = rows(), facts()
    found = asked(chosen)
    if options.json:
        as_json(chosen, known, found)
        return
    print(table(lines(chosen, known, found), options.markdown))
    print("", *about_evidence(chosen, known, found), *([] if options.other else records()), sep="\n")
    if options.verbose:
        told(chosen, known, found)


if __name__ == "__main__":
    main()
