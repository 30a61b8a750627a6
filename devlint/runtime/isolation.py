"""The child process: started with one run to do, watched, stopped at its limits; what it wrote is kept in any case.

The child writes each thing that it sees as one line, at once and unbuffered, so that nothing of it is lost with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from devlint.runtime.job import Job
from devlint.runtime.nursery import Child, Nursery, environment
from devlint.runtime.observation import Observation, Spot, from_json, read_lines
from devlint.runtime.placements import Placement

_GRACE_SECONDS = 2.0
_OUTPUT_LINES = 20
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Run:
    """What came of a job. ``state`` is ``ran``, ``failed``, ``timed-out`` or ``skipped``."""

    job: Job
    state: str
    reason: str | None = None
    device: str = ""
    simulated: bool = False
    reached_device: bool = False
    device_error: bool = False
    """Whether it failed with an error about devices: what is looked for, not a reason to doubt the run."""
    observations: tuple[Observation, ...] = ()
    ran: frozenset[int] = frozenset()
    """Numbers of the job's places that ran."""
    entered: frozenset[tuple[str, str]] = frozenset()
    """Definitions that began to run, of the files that hold such places: real path and qualified name."""
    failed_at: Spot | None = None
    """Where in the program an exception came from that ended it."""
    notes: tuple[str, ...] = ()
    output: str = ""
    """The last lines that the program printed."""
    lines: tuple[str, ...] = field(default=(), repr=False)
    """The record as the child wrote it."""

    @property
    def failed_by_itself(self) -> bool:
        """Whether it ended for a reason that has nothing to do with devices."""
        return self.state in ("failed", "timed-out") and not self.device_error


def run_isolated(job: Job, cwd: Path, nursery: Nursery) -> Run:
    """Run a job in a process of its own and read what it saw, also when it dies, hangs or ends itself."""
    with tempfile.TemporaryDirectory(prefix="devlint-") as scratch:
        spec, record, printed = (Path(scratch) / name for name in ("job.json", "record.jsonl", "output.txt"))
        spec.write_text(json.dumps(job.to_json()), encoding="utf-8")
        record.touch()
        hidden = {"CUDA_VISIBLE_DEVICES": ""} if job.placement is Placement.CPU else {}
        order = {
            "job": str(spec),
            "record": str(record),
            "output": str(printed),
            "cwd": str(cwd),
            "environment": {**environment(), **hidden},
        }
        ended = _watch(nursery.start(order), job)
        return read_run(job, record, ended, _tail(printed))


def read_run(job: Job, record: Path, ended: tuple[str, str | None], output: str = "") -> Run:
    """A run from the child's record. ``ended`` is what is known of the process from outside: state and reason."""
    return run_of(job, record.read_text(encoding="utf-8", errors="replace").splitlines(), ended, output)


def run_of(job: Job, lines: list[str], ended: tuple[str, str | None], output: str = "") -> Run:
    """A run from the lines of its record."""
    records = list(read_lines(lines))
    by_kind = {fields["type"]: fields for fields in records}
    start, end = by_kind.get("start", {}), by_kind.get("end")
    state, reason = ended
    if end is not None and state != "timed-out":
        state, reason = end["state"], end["reason"]
    elif state == "ran":
        state, reason = "failed", reason or "it ended itself before it was done"
    return Run(
        job=job,
        state=state,
        reason=reason,
        device=start.get("device") or job.wish.device(job.placement),
        simulated=start.get("simulated", job.wish.machine == "sim"),
        reached_device="reached-device" in by_kind,
        device_error=end is not None and end.get("device_error", False),
        observations=tuple(from_json(fields) for fields in records if fields["type"] == "observation"),
        ran=frozenset(fields["place"] for fields in records if fields["type"] == "ran"),
        entered=frozenset((fields["path"], fields["scope"]) for fields in records if fields["type"] == "entered"),
        failed_at=Spot(**end["failed_at"]) if end is not None and end.get("failed_at") else None,
        notes=tuple(fields["text"] for fields in records if fields["type"] == "note"),
        output=output,
        lines=tuple(lines[: len(records)]),
    )


def _watch(child: Child, job: Job) -> tuple[str, str | None]:
    """Wait for the child within the job's limits: its state and the reason as they look from outside."""
    started = time.monotonic()
    try:
        while (code := child.poll()) is None:
            child.wait_a_little()
            if job.timeout is not None and time.monotonic() - started > job.timeout:
                return "timed-out", f"it took longer than {job.timeout:g} s"
            if job.memory is not None and resident_bytes(child.pid) > job.memory:
                return "failed", f"it took more memory than {job.memory / 2**20:,.0f} MiB"
        return _outcome(code)
    finally:
        _end(child)


def _outcome(code: int) -> tuple[str, str | None]:
    if code == 0:
        return "ran", None
    if code < 0:
        with contextlib.suppress(ValueError):
            return "failed", f"it was killed by {signal.Signals(-code).name}"
    return "failed", f"it ended itself with exit code {code}"


def _end(child: Child) -> None:
    """Stop the child and whatever it started, loader workers too."""
    if child.poll() is None:
        _signal(child.pid, signal.SIGTERM)
        until = time.monotonic() + _GRACE_SECONDS
        while child.poll() is None and time.monotonic() < until:
            child.wait_a_little()
    _signal(child.pid, _KILL)
    while child.poll() is None:
        child.wait_a_little()


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(group, number)
        else:
            os.kill(group, number)


def resident_bytes(group: int) -> int:
    """Resident memory of all processes of a group in bytes, 0 where the system does not tell (``/proc``)."""
    total = 0
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError, IndexError, ValueError):
                    total += _resident(Path("/proc") / name, group)
    return total


def _resident(process: Path, group: int) -> int:
    # The name in parentheses may hold anything; the group is the third field after it.
    if int((process / "stat").read_text().rpartition(")")[2].split()[2]) != group:
        return 0
    return int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _tail(printed: Path) -> str:
    with contextlib.suppress(OSError):
        return "\n".join(printed.read_text(encoding="utf-8", errors="replace").splitlines()[-_OUTPUT_LINES:])
    return ""
