"""Runs that are ended in the midst of their work; ``tests/benchmarks/kills.py`` does the same many times more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from devlint.fixes.writing import NotWritten, replace_content
from tests.benchmarks.kills import CODES, FIXED, TEXT, children, command, environment, make_tree, trials

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up as Linux tells them")


def test_whatever_ends_a_run_nothing_is_lost() -> None:
    for trial in trials(6, seed=7):
        assert trial.problems == (), trial


def test_two_runs_on_one_cache_say_the_same(tmp_path: Path) -> None:
    make_tree(tmp_path)
    running = [
        subprocess.Popen(command("cached"), cwd=tmp_path, env=environment(), stdout=subprocess.PIPE) for _ in range(3)
    ]
    said = [process.communicate(timeout=300)[0] for process in running]
    assert [process.returncode for process in running] == [1, 1, 1]
    assert len(set(said)) == 1
    done = subprocess.run(command("cached"), cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, said[0])
    assert list((tmp_path / ".devlint_cache").rglob("*.tmp")) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_its_parent(tmp_path: Path, number: int) -> None:
    make_tree(tmp_path)
    ring = "".join(f"def f{n}(x):\n    return f{(n + 1) % 4000}(x) + x\n" for n in range(4000))
    for name in ("slow.py", "slower.py"):
        (tmp_path / name).write_text("import torch\n" + ring)
    with subprocess.Popen(
        command("check"), cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:  # fmt: skip
        deadline = time.monotonic() + 60
        while len(workers := children(process.pid)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    deadline = time.monotonic() + 30
    while any(os.path.exists(f"/proc/{worker}") for worker in workers):
        assert time.monotonic() < deadline, "a worker is still there"
        time.sleep(0.05)
    assert process.returncode in CODES[signal.Signals(number).name]
    assert b"Traceback" not in said


def test_a_file_that_changes_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("somebody else's\n")
    with pytest.raises(NotWritten, match="changed while it was being fixed"):
        replace_content(str(file), TEXT.encode(), FIXED.encode())
    assert file.read_text() == "somebody else's\n"


def test_files_that_come_and_go_while_a_tree_is_linted(tmp_path: Path) -> None:
    make_tree(tmp_path)
    with subprocess.Popen(
        command("cached"), cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        number = 0
        while process.poll() is None:
            (tmp_path / f"m{number % 8}.py").unlink(missing_ok=True)
            (tmp_path / f"m{(number + 5) % 8}.py").write_text(TEXT)
            number += 1
            time.sleep(0.02)
        _, said = process.communicate()
    assert process.returncode in (1, 2)
    assert b"Traceback" not in said
    for path in tmp_path.glob("m*.py"):
        path.unlink()
    (tmp_path / "m0.py").write_text("x = 1\n")
    done = subprocess.run(command("cached"), cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
