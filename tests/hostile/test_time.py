"""No file takes longer than it may, and none that does stops the others."""

from __future__ import annotations

import gc
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest

from devlint.api import lint_source
from devlint.configuration.codes import all_codes
from devlint.pipeline.task import FileReport, FileTask, Gate
from devlint.pipeline.workers import SMALL_RUN_BYTES, run
from devlint.source.deadline import Deadline, OutOfTime, end_process_after

GATE = Gate(frozenset(all_codes()))
PADDING = "# padding\n" * (SMALL_RUN_BYTES // 10)
SLOW_PYTHON = "import torch\n" + "".join(f"def f{n}(x):\n    return f{(n + 1) % 4000}(x) + x\n" for n in range(4000))
"""Thousands of functions in a ring."""


def task(name: str, text: str) -> FileTask:
    return FileTask(f"/{name}", name, name, name, GATE, text.encode())


def reports(tasks: list[FileTask], jobs: int, seconds: float) -> dict[str, FileReport]:
    return {report.shown_as: report for report in run(tasks, jobs, seconds=seconds)}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_over_its_time_is_a_finding_and_the_others_are_linted(jobs: int) -> None:
    others = [task(f"f{number}.py", "x = 1  # noqa: DEV101\n" + PADDING) for number in range(3)]
    found = reports([task("slow.py", SLOW_PYTHON), *others], jobs, 1.0)
    (finding,) = found.pop("slow.py").findings
    assert finding.code == "DEV902"
    assert finding.message == "cannot be analysed: it takes more than 1 s of processor time"
    assert [report.findings[0].code for report in found.values()] == ["DEV900"] * 3


def _search_for_ever() -> None:
    end_process_after(0.3)
    re.match(r"(a+)+b", "a" * 64)  # native code that lets no other thread in


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such timer")
def test_a_process_in_native_code_is_ended_by_the_system() -> None:
    process = multiprocessing.get_context("fork").Process(target=_search_for_ever)
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGPROF


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such timer")
def test_that_end_is_told_as_what_it_is() -> None:
    found: dict[str, FileReport] = {}
    others = [task(f"f{number}.py", "x = 1  # noqa: DEV101\n") for number in range(12)]
    for report in run([task("slow.py", SLOW_PYTHON + PADDING), *others], 2):
        found[report.shown_as] = report
        if len(found) == len(others):
            for process in multiprocessing.active_children():
                if process.pid is not None:
                    os.kill(process.pid, signal.SIGPROF)
    assert found["slow.py"].findings[0].message.endswith("it takes more than 10 s of processor time")


def test_a_thread_that_is_called_stops() -> None:
    deadline = Deadline(0.05)
    stopped: list[bool] = []

    def work() -> None:
        deadline.start()
        try:
            while True:
                pass
        except OutOfTime:
            deadline.give_up()
            stopped.append(True)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    for _ in range(600):
        deadline.look()
        thread.join(0.1)
        if not thread.is_alive():
            break
    assert stopped == [True]


def test_a_thread_that_waits_uses_no_time() -> None:
    deadline = Deadline(0.05)
    seen: list[str] = []

    def work() -> None:
        deadline.start()
        try:
            time.sleep(0.5)
            deadline.stop()
            seen.append("ended")
        except OutOfTime:
            seen.append("stopped")

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        deadline.look()
        thread.join(0.02)
    assert seen == ["ended"]


def test_many_threads_leave_the_interpreter_as_it_was() -> None:
    before = (sys.getrecursionlimit(), threading.stack_size(), gc.isenabled())
    texts = ["import torch\nx = " + "not " * (300 * number) + "a\n" for number in range(1, 7)]
    found: list[int] = []

    def lint(text: str) -> None:
        found.append(len(lint_source(text, "a.py")))

    threads = [threading.Thread(target=lint, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [0] * 6
    assert (sys.getrecursionlimit(), threading.stack_size(), gc.isenabled()) == before


def test_a_run_that_is_given_up_leaves_the_interpreter_as_it_was() -> None:
    before = (sys.getrecursionlimit(), threading.stack_size(), gc.isenabled())
    first = run([task("a.py", "x = 1\n"), task("b.py", "x = 1\n")], 1)
    second = run([task("c.py", "x = 1\n")], 1)
    next(first)
    next(second)
    assert sys.getrecursionlimit() > before[0]
    first.close()
    assert sys.getrecursionlimit() > before[0]
    second.close()
    assert (sys.getrecursionlimit(), threading.stack_size(), gc.isenabled()) == before


COMMENTS: dict[str, Callable[[int], str]] = {
    "hashes": lambda n: "#" * n,
    "hashes and blanks": lambda n: "# " * n,
    "digits": lambda n: f"x = 1  # noqa: A{'1' * n}x",
    "codes": lambda n: f"x = 1  # noqa: {'A1, ' * n}x:",
    "blanks": lambda n: f"x = 1  # noqa:{' ' * n}:",
    "open brackets": lambda n: f"x = 1  # devlint: ignore[{'[' * n}",
    "words": lambda n: "x = 1  # " + "devlint " * n,
}


@pytest.mark.parametrize("shape", COMMENTS)
def test_no_comment_takes_time_beyond_its_length(shape: str) -> None:
    text = "import torch\n" + COMMENTS[shape](100_000) + "\n"
    started = time.process_time()
    assert {finding.code for finding in lint_source(text, "a.py", isolated=True)} <= {"DEV900"}
    assert time.process_time() - started < 8


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import torch\nx = " + "1" * 20_000 + "\n", "DEV901"),
        ("import torch\nx = torch.zeros(" + "9" * 5000 + ")\n", "DEV901"),
        ("import torch\nx = 0x" + "f" * 20_000 + "\n", ""),
        ("import torch\nx = torch.zeros(10 ** 10 ** 10, 2 << 99999999999, 'a' * 10 ** 12)\n", ""),
        ("import torch\nx = 1e999999999\n", ""),
    ],
)
def test_no_number_is_too_much(text: str, code: str) -> None:
    assert [finding.code for finding in lint_source(text, "a.py", isolated=True)] == ([code] if code else [])
