"""Who is right about which operands may meet: devlint's judge, its simulated machine, PyTorch's FakeTensorMode.

    python tests/benchmarks/conformance.py               missed and false clashes by source of evidence, side by side
    python tests/benchmarks/conformance.py --verbose     each difference, with what the evidence says
    python tests/benchmarks/conformance.py --markdown    the table as it stands in the README
    python tests/benchmarks/conformance.py --json        each row, its facts and the three answers

The rows are those of fixtures/semantics/rows.jsonl. Evidence that does not come from devlint's own tables is a record
made on a GPU, the answers of PyTorch's own CUDA build run without one, and sources that are cited. Rows without any are
printed apart and count for nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

from devlint.semantics.record.row import Row
from tests.semantics.conformance import answers as oracles
from tests.semantics.conformance.comparing import Result, compare, known_differences
from tests.semantics.conformance.evidence import SOURCES, Fact, best, facts, nearest, rows, unsettled

Answers = Mapping[str, Sequence[oracles.Answer]]

NAMES = {"judge": "the judge", "simulated": "simulated machine", "fake": "FakeTensorMode"}


def asked(chosen: list[Row]) -> Answers:
    """All three, over the same rows."""
    return {
        "judge": [oracles.judged(row) for row in chosen],
        "simulated": oracles.simulated(chosen),
        "fake": oracles.faked(chosen),
    }


def lines(chosen: list[Row], known: Mapping[str, Mapping[str, Fact]], found: Answers) -> list[tuple[str, ...]]:
    """One line for each source and oracle, and one over the best source of each row."""
    made = []
    for source in (*SOURCES, "all"):
        for oracle, given in found.items():
            counts: Counter[Result] = Counter()
            clashes = 0
            for row, answer in zip(chosen, given, strict=True):
                fact = best(known[row.key]) if source == "all" else known[row.key].get(source)  # type: ignore[arg-type]
                if fact is None:
                    continue
                clashes += fact.clash
                counts[compare(fact, answer)] += 1
            total = sum(counts.values())
            if not total:
                continue
            cells = (str(total), str(clashes), str(counts["agrees"]), share(counts["missed"], clashes))
            cells += (share(counts["false"], total - clashes), str(counts["device"]), str(counts["silent"]))
            made.append((source, NAMES[oracle], *cells))
    return made


def share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.1f} %)" if whole else str(part)


HEAD = ("evidence", "", "rows", "clashes", "agrees", "missed clashes", "false clashes", "wrong device", "cannot say")


def table(made: list[tuple[str, ...]], markdown: bool) -> str:
    if markdown:
        body = ["| " + " | ".join(line) + " |" for line in (HEAD, ("---", "---", *["---:"] * 7), *made)]
        return "\n".join(body)
    widths = [max(len(line[i]) for line in (HEAD, *made)) for i in range(len(HEAD))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) for line in (HEAD, *made))


def told(chosen: list[Row], known: Mapping[str, Mapping[str, Fact]], found: Answers) -> None:
    """Each difference of judge and simulation, with its reason where it is a known one."""
    for oracle in ("judge", "simulated"):
        why = known_differences(oracle)
        for row, answer in zip(chosen, found[oracle], strict=True):
            fact = best(known[row.key])
            if fact is None or (result := compare(fact, answer)) in ("agrees", "silent"):
                continue
            reason = why.get(row.code, "NOT LISTED")
            print(f"{oracle}: {result}: {row.code}\n    {fact.source}: {fact.kind or fact.devices}; {reason}")


def as_json(chosen: list[Row], known: Mapping[str, Mapping[str, Fact]], found: Answers) -> None:
    for i, row in enumerate(chosen):
        of_row = {s: {"clash": f.clash, "kind": f.kind, "devices": f.devices} for s, f in known[row.key].items()}
        said = {o: {"verdict": a[i].verdict, "detail": a[i].detail, "devices": a[i].devices} for o, a in found.items()}
        print(json.dumps({"code": row.code, "operation": row.operation, "facts": of_row, "answers": said}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    chosen, known = rows(), facts()
    found = asked(chosen)
    if options.json:
        as_json(chosen, known, found)
        return
    print(table(lines(chosen, known, found), options.markdown))
    bare = [row for row in chosen if not known[row.key]]
    verdicts = Counter(found["judge"][chosen.index(row)].verdict for row in bare)
    print(f"\nderived, counted for nothing: {len(bare)} rows without evidence ({dict(verdicts)} by the judge)")
    for gpu in (True, False):
        path = nearest(gpu=gpu)
        print(
            f"{'GPU' if gpu else 'build'}: "
            + (f"{path.name}, {len(unsettled(path))} rows open" if path else "no record")
        )
    if options.verbose:
        told(chosen, known, found)


if __name__ == "__main__":
    main()
