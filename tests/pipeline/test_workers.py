"""Files spread over processes, and processes that die."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from devlint.configuration.codes import all_codes
from devlint.pipeline.file_report import analyse_file
from devlint.pipeline.processors import available_processors
from devlint.pipeline.stages.fingerprints import fingerprint
from devlint.pipeline.task import FileTask, Gate
from devlint.pipeline.workers import SMALL_RUN_BYTES, run

GATE = Gate(frozenset(all_codes()))


def task(name: str, text: str) -> FileTask:
    return FileTask(f"/{name}", name, name, name, GATE, text.encode())


PADDING = "# padding\n" * (SMALL_RUN_BYTES // 10)


def test_a_process_that_dies_takes_only_its_file_with_it() -> None:
    # LibCST needs seconds for such sums: the process that has them is the last alive, and is killed at it.
    slow = task("slow.py", "import torch\n" + PADDING + 8 * ("x = " + " + ".join(["a"] * 3900) + "\n"))
    others = [task(f"f{number}.py", "x = 1  # noqa: DEV101\n") for number in range(12)]
    reports = {}
    for report in run([slow, *others], 2):
        reports[report.shown_as] = report
        if len(reports) == len(others):
            for process in multiprocessing.active_children():
                if process.pid is not None:
                    os.kill(process.pid, signal.SIGKILL)
    (finding,) = reports.pop("slow.py").findings
    assert finding.code == "DEV902"
    assert finding.message == "cannot be analysed: the process that analysed it died (SIGKILL)"
    assert {report.findings[0].code for report in reports.values()} == {"DEV900"}
    assert len(reports) == len(others)


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_file_is_reported_once(jobs: int, tmp_path: Path) -> None:
    tasks = [task(f"f{number}.py", PADDING) for number in range(7)]
    assert sorted(report.shown_as for report in run(tasks, jobs)) == sorted(each.shown_as for each in tasks)
    assert list(run([], jobs)) == []


def test_files_are_read_directory_by_directory() -> None:
    sizes = {"a/one.py": 1, "b/one.py": 5, "a/two.py": 2, "c/one.py": 3, "b/two.py": 1}
    tasks = [task(name, "x = 1\n" * lines) for name, lines in sizes.items()]
    read = [report.shown_as for report in run(tasks, 1)]
    assert read == ["b/one.py", "b/two.py", "a/two.py", "a/one.py", "c/one.py"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_files_that_lead_back_are_read_after_all_others(jobs: int, tmp_path: Path) -> None:
    texts = {
        "setup.cfg": "",
        "there.py": "import torch\nfrom back import g\n\ndef f():\n    return g()\n" + PADDING,
        "back.py": "import torch\nfrom there import f\n\ndef g():\n    return torch.ones(3)\n\nf()\n",
        "inner/alone.py": "import torch\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    tasks = [
        FileTask(str(tmp_path / name), name, name, name, GATE, cwd=str(tmp_path)) for name in texts if "py" in name
    ]
    read = [report.shown_as for report in run(tasks, jobs)]
    assert sorted(read) == ["back.py", "inner/alone.py", "there.py"]
    if jobs == 1:
        assert read[-1] == "back.py"


def test_no_process_is_left_behind() -> None:
    assert len(list(run([task(f"f{number}.py", PADDING) for number in range(7)], 3))) == 7
    for process in multiprocessing.active_children():
        process.join(5)
    assert multiprocessing.active_children() == []


def test_a_run_that_is_given_up_stops_its_processes() -> None:
    reports = run([task(f"f{number}.py", PADDING) for number in range(50)], 2)
    next(reports)
    reports.close()  # type: ignore[attr-defined]
    for process in multiprocessing.active_children():
        process.join(5)
    assert multiprocessing.active_children() == []


def test_code_too_deep_for_the_stack_is_a_finding_and_no_crash() -> None:
    report = analyse_file(task("a.py", "import torch\nx = " + "not " * 3000 + "a\n"))  # on this thread's ordinary stack
    (finding,) = report.findings
    assert finding.code == "DEV902"
    assert finding.message == "cannot be analysed: its code is nested too deeply"
    assert "RecursionError" in report.detail


def test_the_same_code_is_analysed_on_a_deep_stack() -> None:
    (report,) = run([task("a.py", "import torch\nx = " + "not " * 3000 + "a\n")], 1)
    assert report.findings == ()


def test_there_is_a_processor() -> None:
    assert available_processors() >= 1


def test_like_findings_are_told_apart_by_their_order_alone() -> None:
    first = "x = 1  # noqa: DEV101\n"
    moved = "# a comment\n\n\n"
    once, twice = (next(run([task("a.py", text)], 1)).findings for text in (first, moved + first + first))
    assert once[0].fingerprint == twice[0].fingerprint
    assert twice[0].fingerprint != twice[1].fingerprint
    assert once[0].fingerprint == fingerprint("DEV900", "a.py", "", "# noqa: DEV101", 0)
