"""PyTorch's CUDA sanitizer in a process of its own, as far as it can be seen without a GPU.

Its own code runs: on a simulated device it sees the operations and their streams, and only who waits stays unknown to
it. tests/gpu/test_sanitizer.py asks it on a real one.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from devlint.confirm import _sanitized
from devlint.finding import Confidence, Finding, Place, Severity
from devlint.runtime.entries import Entry
from devlint.runtime.isolation import Run, run_isolated
from devlint.runtime.job import Job
from devlint.runtime.nursery import Nursery
from devlint.runtime.placements import Placement, Wish

PROGRAM = """\
import torch


def build():
    return total


def total():
    numbers = torch.ones(1 << 10, device="cuda").exp()
    with torch.cuda.stream(torch.cuda.Stream()):
        return numbers.sum()
"""
JOB = Job(Entry("entry", "racy:build"), Placement.FIRST, Wish("cuda"), timeout=60)
RACE = Finding(
    code="DEV601",
    name="unsynchronised-stream",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    message="",
    place=Place("racy.py", 11, 16, 11, 29),
    scope="total",
)


def test_a_real_run_with_a_race_in_question_is_made_again_under_the_sanitizer() -> None:
    ran = Run(JOB, "ran", device="cuda:0", reached_device=True)
    (again,) = _sanitized([ran], (RACE,))
    assert again == replace(JOB, sanitize=True)
    assert Job.from_json(json.loads(json.dumps(again.to_json()))).sanitize


def test_nothing_is_made_again_without_a_question_a_device_or_a_whole_run() -> None:
    ran = Run(JOB, "ran", device="cuda:0", reached_device=True)
    assert _sanitized([ran], (replace(RACE, code="DEV101"),)) == []
    assert _sanitized([replace(ran, simulated=True), replace(ran, state="failed")], (RACE,)) == []
    assert _sanitized([replace(ran, job=replace(JOB, placement=Placement.SECOND))], (RACE,)) == []


def test_the_sanitizers_word_is_kept_beside_the_recorders(tmp_path: Path, nursery: Nursery) -> None:
    (tmp_path / "racy.py").write_text(PROGRAM)
    run = run_isolated(replace(JOB, wish=Wish("sim"), sanitize=True), tmp_path, nursery)
    assert (run.state, run.reason) == ("ran", None)
    races = {o.judged: o for o in run.observations if o.kind == "stream"}
    assert races.keys() == {"judge", "device"}
    assert {o.spots[0].line for o in races.values()} == {11}
    assert races["device"].operands[0].moved is not None
    assert races["device"].operands[0].moved.line == 9
    assert json.loads(run.lines[0])["sanitized"]
