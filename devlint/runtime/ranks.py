"""Under ``torchrun`` every rank runs and records; rank 0 gathers what all have seen, and alone reports.

The ranks of one machine meet in a directory named after the launcher, which is the parent of all of them. Ranks of
other machines report by themselves, as their own rank 0 does.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devlint.runtime.isolation import Run, run_of
from devlint.runtime.job import Job

_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Rank:
    """This process among those of its machine."""

    local: int
    size: int
    meeting: Path

    @property
    def reports(self) -> bool:
        return self.local == 0


def current(environment: Mapping[str, str]) -> Rank | None:
    """This process's rank; None where no launcher started it, or only one process."""
    try:
        local = int(environment.get("LOCAL_RANK", environment["RANK"]))
        size = int(environment.get("LOCAL_WORLD_SIZE", environment["WORLD_SIZE"]))
    except (KeyError, ValueError):
        return None
    if size < 2:
        return None
    names = ("TORCHELASTIC_RUN_ID", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT")
    told = "-".join(environment.get(name, "") for name in names).replace(os.sep, "_")
    return Rank(local, size, Path(tempfile.gettempdir()) / f"devlint-ranks-{os.getppid()}-{told}")


def hand_over(rank: Rank, runs: Sequence[Run]) -> None:
    """Leave this rank's runs where rank 0 looks for them."""
    rank.meeting.mkdir(mode=0o700, exist_ok=True)
    rows = [
        {"job": run.job.to_json(), "state": run.state, "reason": run.reason, "lines": list(run.lines)} for run in runs
    ]
    written = rank.meeting / f"{rank.local}.part"
    written.write_text(json.dumps(rows), encoding="utf-8")
    written.replace(rank.meeting / f"{rank.local}.json")


def gather(rank: Rank, seconds: float) -> tuple[list[Run], list[int]]:
    """The runs of all other ranks, and the ranks that did not come within ``seconds``."""
    runs: list[Run] = []
    missing: list[int] = []
    until = time.monotonic() + seconds
    for other in range(1, rank.size):
        told = rank.meeting / f"{other}.json"
        while not told.exists() and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
        if not told.exists():
            missing.append(other)
            continue
        for row in json.loads(told.read_text(encoding="utf-8")):
            runs.append(run_of(Job.from_json(row["job"]), row["lines"], (row["state"], row["reason"])))
    shutil.rmtree(rank.meeting, ignore_errors=True)
    return runs, missing
