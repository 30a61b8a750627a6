"""What the child saw is kept, however it ends."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from devlint.runtime.entries import Entry
from devlint.runtime.isolation import Run, read_run, run_isolated
from devlint.runtime.job import Job
from devlint.runtime.nursery import Nursery, environment
from devlint.runtime.placements import Placement, Wish

CLASHES = 60

PROGRAM = f'''
import ctypes, os, signal, sys, time
import torch

here = torch.ones(3, device="cuda")


def clash():
    return here + torch.zeros(3)


def raising():
    clash(); raise ValueError("no good\\nat all")

def leaving():
    clash(); sys.exit(3)

def well_done():
    clash(); sys.exit(0)

def gone():
    clash(); os._exit(4)

def killed():
    clash(); os.kill(os.getpid(), signal.SIGKILL)

def crashing():
    clash(); ctypes.string_at(0)

def hanging():
    clash()
    while True:
        time.sleep(1)

def greedy():
    clash(); kept = [bytearray(50_000_000) for _ in range(100)]

def many():
    """A clash at each of many places; a line goes to the file when the program is past it."""
    told = os.open("past.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    source = "\\n".join(f"here + torch.zeros(3); os.write(told, b'{{n}}\\\\n')" for n in range({CLASHES}))
    exec(compile(source, os.path.abspath("generated.py"), "exec"), {{**globals(), "told": told}})
'''


@pytest.fixture
def run(tmp_path: Path, nursery: Nursery) -> Runner:
    (tmp_path / "program.py").write_text(PROGRAM)
    return Runner(tmp_path, nursery)


class Runner:
    def __init__(self, cwd: Path, nursery: Nursery) -> None:
        self.cwd, self.nursery = cwd, nursery

    def job(self, name: str, timeout: float | None = 60, memory: int | None = None) -> Job:
        entry = Entry("entry", f"program:{name}")
        return Job(entry, Placement.FIRST, Wish("sim"), timeout=timeout, memory=memory)

    def __call__(self, name: str, timeout: float | None = 60, memory: int | None = None) -> Run:
        return run_isolated(self.job(name, timeout, memory), self.cwd, self.nursery)


@pytest.mark.parametrize(
    ("name", "state", "reason"),
    [
        ("raising", "failed", "ValueError: no good"),
        ("leaving", "failed", "it exited with 3"),
        ("well_done", "ran", None),
        ("gone", "failed", "it ended itself with exit code 4"),
        ("killed", "failed", "it was killed by SIGKILL"),
        ("crashing", "failed", "it was killed by SIGSEGV"),
    ],
)
def test_end_of_the_program_loses_nothing(run: Runner, name: str, state: str, reason: str | None) -> None:
    done = run(name)
    assert (done.state, done.reason) == (state, reason), done.output
    assert [observation.kind for observation in done.observations if observation.kind != "error"] == ["clash"]
    assert done.device == "cuda:0"
    assert done.simulated


def test_hang_ends_at_the_time_limit(run: Runner) -> None:
    started = time.monotonic()
    done = run("hanging", timeout=3)
    assert (done.state, done.reason) == ("timed-out", "it took longer than 3 s")
    assert [observation.kind for observation in done.observations] == ["clash"]
    assert time.monotonic() - started < 30


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_memory_limit(run: Runner) -> None:
    done = run("greedy", memory=1_500_000_000)
    assert done.state == "failed"
    assert "memory" in str(done.reason)
    assert [observation.kind for observation in done.observations] == ["clash"]


def test_entry_that_stays_on_the_cpu_did_not_reach_the_device(run: Runner) -> None:
    assert run("well_done").reached_device
    (run.cwd / "program.py").write_text("import torch\n\ndef on_the_cpu():\n    return torch.zeros(3) + 1\n")
    assert not run("on_the_cpu").reached_device


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("program:nothing", "program has no `nothing`"),
        ("absent:build", "there is no module absent"),
        ("program:here", "program:here cannot be called"),
    ],
)
def test_entry_that_is_not_there(run: Runner, target: str, reason: str) -> None:
    done = run_isolated(Job(Entry("entry", target), Placement.FIRST, Wish("sim")), run.cwd, run.nursery)
    assert (done.state, done.reason) == ("failed", reason)


def test_killing_the_child_at_any_moment_loses_no_observation(run: Runner) -> None:
    moments = random.Random(20261121)
    counts = []
    for number in range(25):
        record, past = run.cwd / f"record{number}.jsonl", run.cwd / "past.txt"
        (spec := run.cwd / "job.json").write_text(json.dumps(run.job("many").to_json()))
        past.unlink(missing_ok=True)
        record.touch()
        order = {"job": str(spec), "record": str(record), "output": str(run.cwd / "out.txt"), "cwd": str(run.cwd)}
        child = run.nursery.start({**order, "environment": environment()})
        # Half of the moments count from the first clash on, where most of them are made.
        while number % 2 and child.poll() is None and not past.exists():
            time.sleep(0.001)
        time.sleep(moments.uniform(0, 0.4))
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        while child.poll() is None:
            child.wait_a_little()
        made = past.read_text().count("\n") if past.exists() else 0
        done = read_run(run.job("many"), record, ("failed", "killed"))
        assert len(done.observations) >= made
        assert {observation.kind for observation in done.observations} <= {"clash"}
        counts.append(made)
    assert any(0 < made < CLASHES for made in counts), f"no moment was in the middle: {counts}"
