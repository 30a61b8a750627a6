"""`python -m devlint.semantics.record --device cuda`: run every row on the device and record its outcome.

A run that was stopped continues when started again. Exit code 2 when nothing could be run.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from devlint.semantics.record.batches import outcomes
from devlint.semantics.record.files import Refused, file_name, line_of, open_record, read_rows
from devlint.semantics.record.machine import NoDevice, header
from devlint.semantics.record.row import Outcome, Row

DEVICES = "meta: torch's C++ structured metas play the accelerator; cpu: a dry run, nothing crosses"
FIXTURES = Path(__file__).parents[3] / "fixtures" / "semantics"


def main(arguments: list[str] | None = None) -> int:
    """Record; the counts go to stderr."""
    options = _options(arguments)
    try:
        rows = read_rows(options.rows)
        about = header(options.device)
        path = options.out or FIXTURES / file_name(about)
        done = open_record(path, about)
    except (Refused, NoDevice) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"error: {error.filename}: {error.strerror}\n")
        return 2
    if not rows:
        sys.stderr.write(f"error: {options.rows}: no rows\n")
        return 2
    left = [row for row in rows if row.key not in done or _can_run_now(row, done[row.key], about["gpus"])]
    sys.stderr.write(f"{about['gpu']}, torch {about['torch']}: {len(left)} of {len(rows)} rows to run, into {path}\n")
    counts: Counter[str] = Counter()
    started = time.monotonic()
    with path.open("a", encoding="utf-8") as out:
        for ended in outcomes(left, options.device, options.batch, options.limit, options.start):
            out.write(line_of(ended))
            out.flush()
            counts[ended.outcome] += 1
    told = ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())
    sys.stderr.write(f"{told or 'nothing left to run'} in {time.monotonic() - started:.0f} s\n")
    return 0


def _can_run_now(row: Row, before: Outcome, gpus: int) -> bool:
    """Whether a row was skipped because it needs a second device, which is available now."""
    return before == "skipped" and 1 < row.gpus <= gpus


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m devlint.semantics.record", description=__doc__)
    parser.add_argument("--device", choices=("cuda", "meta", "cpu"), required=True, help=DEVICES)
    parser.add_argument("--rows", type=Path, default=FIXTURES / "rows.jsonl", metavar="FILE")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: beside the rows, named by torch and GPU")
    parser.add_argument("--batch", type=int, default=250, metavar="N", help="rows a process (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="for one row (default: %(default)s)")
    parser.add_argument("--start", type=float, default=120, metavar="SECONDS", help="for torch (default: %(default)s)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
