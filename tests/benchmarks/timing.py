"""Commands timed: wall and processor seconds, the memory of each process, medians over interleaved rounds."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class Command:
    """What is run, where, and what it reads."""

    argv: Sequence[str]
    cwd: Path
    stdin: bytes = b""
    allowed: tuple[int, ...] = (0, 1)
    """Exit codes that are no failure."""
    environment: Mapping[str, str] | None = None

    def env(self) -> dict[str, str]:
        """As users have it: modules are compiled once and kept."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return {**kept, **(self.environment or {})}


@dataclass(frozen=True)
class Sample:
    """One run. ``cpu`` is user and system time of the process and of all that it waited for."""

    wall: float
    cpu: float


def timed(command: Command) -> Sample:
    """Run a command once. Raises SystemExit with what it said if it fails."""
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as said:
        stdin.write(command.stdin)
        stdin.seek(0)
        started = time.perf_counter()
        process = subprocess.Popen(
            command.argv, cwd=command.cwd, stdin=stdin, stdout=subprocess.DEVNULL, stderr=said, env=command.env()
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        words = said.read().decode(errors="replace")
        if process.returncode not in command.allowed or "Traceback" in words:
            raise SystemExit(f"{' '.join(command.argv[:6])} ... ended with {process.returncode}\n{words[-2000:]}")
    return Sample(wall, usage.ru_utime + usage.ru_stime)


@dataclass(frozen=True)
class Case:
    """One line of a table: what is timed, and what has to be done before each time."""

    name: str
    command: Command
    prepare: Callable[[], object] = lambda: None


def measure(cases: Sequence[Case], rounds: int) -> dict[str, list[Sample]]:
    """Every case once in each round, so that other work on the machine burdens all of them alike."""
    samples: dict[str, list[Sample]] = {case.name: [] for case in cases}
    for _ in range(rounds):
        for case in cases:
            case.prepare()
            samples[case.name].append(timed(case.command))
    return samples


def median_ratio(samples: Sequence[Sample], floor: Sequence[Sample], of: str) -> float:
    """The median over the rounds of a case's ``wall`` or ``cpu`` seconds in terms of another's in the same round."""
    pairs = zip(samples, floor, strict=True)
    return statistics.median(getattr(sample, of) / getattr(base, of) for sample, base in pairs)


def median(samples: Sequence[Sample], of: str) -> float:
    return statistics.median(getattr(sample, of) for sample in samples)


@dataclass(frozen=True)
class Memory:
    """Peak resident memory in MiB: of the process itself, and of the largest one that it started."""

    parent: float
    workers: float


def peak_memory(command: Command) -> Memory:
    """Run a command once, looking at its processes twenty times a second. Linux only."""
    peaks: dict[int, int] = {}
    over = threading.Event()
    process = subprocess.Popen(
        command.argv, cwd=command.cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=command.env(),
    )  # fmt: skip

    def look() -> None:
        while not over.wait(0.05):
            for pid in _tree(process.pid):
                with contextlib.suppress(OSError, ValueError):
                    peaks[pid] = max(peaks.get(pid, 0), high_water(pid))

    watcher = threading.Thread(target=look)
    watcher.start()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    over.set()
    watcher.join()
    started = [peak for pid, peak in peaks.items() if pid != process.pid]
    whole = usage.ru_maxrss * 1024  # the largest of all of them, seen by the kernel itself
    parent = peaks.get(process.pid, whole)
    return Memory(
        parent / _MEBIBYTE, max([*started, whole if whole > parent and started else 0], default=0) / _MEBIBYTE
    )


def _tree(pid: int) -> list[int]:
    """A process and all that come from it."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                parent = int(Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry))
    found = [pid]
    for parent in found:
        found += children.get(parent, [])
    return found


def high_water(pid: int) -> int:
    """The peak of a process in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
