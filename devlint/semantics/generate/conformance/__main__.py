"""`python -m devlint.semantics.generate.conformance`: write fixtures/semantics/rows.jsonl from torch's own samples.

Needs `devlint[test]`. With `--check` nothing is written and the exit code is 1 when the file differs. `--other FILE`
writes rows of other samples than those of rows.jsonl: nothing was ever fitted to them, so that a record of them tells
how far judge and simulation hold beyond the rows they are tested with (tests/benchmarks/conformance.py --other).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch

from devlint.semantics.generate.conformance import upstream
from devlint.semantics.generate.conformance.by_hand import hand_written
from devlint.semantics.generate.conformance.calls import Call, calls
from devlint.semantics.generate.conformance.indexing import index_rows, operator_rows
from devlint.semantics.generate.conformance.placements import call_rows, distinct, in_place_rows, out_rows, row
from devlint.semantics.record.__main__ import FIXTURES
from devlint.semantics.record.batches import outcomes
from devlint.semantics.record.files import read_rows, write_rows
from devlint.semantics.record.row import Row

ABOUT = {
    "rows": f"written by python -m devlint.semantics.generate.conformance with torch {torch.__version__}; do not edit",
    "names": "devlint/semantics/record/places.py tells what c, c1, h, ... make",
}


def rows() -> list[Row]:
    """All rows, each code once; but for those written by hand only such as run when everything is on the host."""
    return _running(_candidates())


def other_rows() -> list[Row]:
    """Rows of the last samples of each kind, where `rows` takes the first; none that is in rows.jsonl."""
    known = {row.key for row in read_rows(FIXTURES / "rows.jsonl")}
    drawn = _of_calls(call for _, found in calls(most=4, last=True) for call in found)
    return _running(row for row in drawn if row.key not in known)


def _running(found: Iterable[Row]) -> list[Row]:
    candidates = distinct(found)
    tried = outcomes(candidates, "cpu", size=4000, limit=60)
    return [r for r, e in zip(candidates, tried, strict=True) if e.outcome == "ok" or r.operation == "written"]


def _of_calls(found: Iterable[Call]) -> Iterator[Row]:
    for call in found:
        yield from call_rows(call)
        yield from out_rows(call)
        yield from in_place_rows(call)


def _candidates() -> Iterator[Row]:
    yield from _first_rows()
    yield from _cited_rows()
    yield from operator_rows()
    yield from index_rows()
    for call in hand_written():
        yield from call_rows(call)
    for _, found in calls():
        for number, call in enumerate(found):
            yield from call_rows(call)
            if number == 0:
                yield from out_rows(call)
                yield from in_place_rows(call)


def _first_rows() -> Iterator[Row]:
    """The rows written by hand, whose expected outcome is kept beside them."""
    known = json.loads((FIXTURES / "conformance_rows.json").read_text("utf-8"))["rows"]
    for one in known:
        yield row("written", one["code"], "apple" if re.search(r"(?<![\w.])m\(", one["code"]) else "written")


def _cited_rows() -> Iterator[Row]:
    """The rows that a source outside devlint settles."""
    for source in json.loads((FIXTURES / "cited.json").read_text("utf-8"))["sources"]:
        yield from (row("cited", code, "cited") for code, _ in source["rows"])


def main() -> int:
    """Write the rows, or with `--check` compare them."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        # op_db goes through sets of words: their order is part of what is drawn.
        again = [sys.executable, "-m", __package__ or "", *sys.argv[1:]]
        return subprocess.run(again, check=False, env={**os.environ, "PYTHONHASHSEED": "0"}).returncode
    if "--other" in sys.argv:
        write_rows(Path(sys.argv[sys.argv.index("--other") + 1]), ABOUT, other_rows())
        return 0
    found = rows()
    if "--check" in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            fresh = _written(Path(folder), found)
            return int(any(path.read_bytes() != (FIXTURES / path.name).read_bytes() for path in fresh))
    _written(FIXTURES, found)
    sys.stderr.write(f"{len(found)} rows of {len({r.operation for r in found})} operations\n")
    return 0


def _written(folder: Path, found: list[Row]) -> list[Path]:
    """The files: the rows, and which of them op_db's own tests settle."""
    paths = [folder / "rows.jsonl", folder / "cited_op_db.json"]
    write_rows(paths[0], ABOUT, found)
    paths[1].write_text(upstream.text(found), encoding="utf-8")
    return paths


if __name__ == "__main__":
    sys.exit(main())
