"""Every exit code, and which one wins."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Run, environment

PROGRAM = [sys.executable, "-m", "devlint"]

BROKEN = "def f(:\n    pass\n"
CLEAN = "import torch\n\nx = torch.device('cpu')\n"
UNUSED = "x = 1  # noqa: DEV101\n"


def test_clean_code_is_0(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "clean.py").write_text("x = 1\n")
    done = devlint()
    assert done.returncode == 0
    assert done.stdout.startswith("No device-placement problem found in 1 file (")
    assert done.stderr == ""


@pytest.mark.parametrize("text", [BROKEN, UNUSED])
@pytest.mark.parametrize("form", ["text", "full", "concise", "json"])
def test_findings_are_1_in_every_form(devlint: Run, tmp_path: Path, text: str, form: str) -> None:
    (tmp_path / "a.py").write_text(text)
    assert devlint("--output-format", form).returncode == 1


def test_exit_zero_turns_1_into_0(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(UNUSED)
    assert devlint("--exit-zero").returncode == 0
    assert devlint("-e").returncode == 0


def test_exit_zero_never_hides_a_file_that_could_not_be_analysed(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = '\xff'\n")
    assert devlint("--exit-zero").returncode == 2


def test_2_beats_1(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "finding.py").write_text(UNUSED)
    (tmp_path / "unreadable.py").write_bytes(b"x = '\xff'\n")
    done = devlint("--output-format", "concise")
    assert done.returncode == 2
    assert "DEV900" in done.stdout
    assert "DEV902" in done.stdout


def test_below_the_gate_is_0(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(UNUSED)
    done = devlint("--min-severity", "error")
    assert done.returncode == 0
    assert "hidden: 1 below the least severity" in done.stdout


def test_a_missing_path_is_2_and_the_others_are_checked(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(UNUSED)
    done = devlint("a.py", "gone.py")
    assert done.returncode == 2
    assert "devlint: no such file or directory: gone.py\n" in done.stderr
    assert "DEV900" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--no-such-option"], "No such option"),
        (["--select", "DEV9x"], "unknown code `DEV9x`; did you mean"),
        (["--select", "unused-supression"], "did you mean `DEV900`"),
        (["--jobs", "0"], "--jobs"),
        (["--output-format", "xml"], "'xml' is not one of"),
        (["--min-severity", "fatal"], "'fatal' is not one of"),
        (["--config", "gone.toml"], "no such file"),
        (["--config", "min-severity=error"], "strings need quotes"),
        (["--config", "min-severty='error'"], "did you mean `min-severity`?"),
        (["--stdin-filename", "a.py", "."], "--stdin-filename names what - reads"),
        (["-", "a.py"], "cannot be joined"),
        (["@gone.txt"], "the argument file gone.txt cannot be read"),
        (["rule"], "--all"),
        (["rule", "DEV999"], "unknown code `DEV999`; did you mean"),
    ],
)
def test_wrong_usage_is_2_with_a_reason_on_stderr(devlint: Run, arguments: list[str], words: str) -> None:
    done = devlint(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_a_report_that_cannot_be_written_is_2(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    done = devlint("-o", "no/such/directory/report.txt")
    assert done.returncode == 2
    assert "cannot write no/such/directory/report.txt" in done.stderr


def test_nothing_to_look_at_is_0_with_one_line(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("text\n")
    done = devlint()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "devlint: no Python file among the paths\n")


def test_nothing_left_after_exclusion_is_0_with_one_line(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    done = devlint("--exclude", "a.py")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "devlint: no file left: all that were found are excluded\n"


def _until_it_reads(group: int) -> None:
    """Wait until a process of the group has LibCST, which is when the first file is analysed."""
    end = time.monotonic() + 20
    while time.monotonic() < end and not any(map(_has_libcst, _members(group))):
        time.sleep(0.05)
    time.sleep(0.2)


def _members(group: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                found += [int(entry.name)] if os.getpgid(int(entry.name)) == group else []
    return found


def _has_libcst(pid: int) -> bool:
    try:
        return "libcst" in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


@pytest.mark.parametrize("files", [1, 20], ids=["in-process", "in-processes"])
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="the system does not tell what a process has loaded")
def test_an_interrupt_is_130(tmp_path: Path, files: int) -> None:
    # LibCST reads each definition with a finding by itself. While it does, in native code, no interrupt is heard: so
    # there are many short ones.
    total = "    y = " + " + ".join(["a"] * 100) + "\n"
    shift = "def shift{}(x: torch.Tensor, a):\n" + total + "    return x + torch.ones(3)\n\n"
    program = "import torch\n\n" + "".join(shift.format(number) for number in range(200))
    for number in range(files):
        (tmp_path / f"slow{number}.py").write_text(program)
    process = subprocess.Popen(
        [*PROGRAM, "-j2"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    _until_it_reads(process.pid)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert (output, errors.strip()) == (b"", b"")


def test_a_closed_pipe_ends_quietly_with_the_runs_own_code(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1  # noqa: DEV101\n" * 2000)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(PROGRAM, cwd=tmp_path, env=environment(), stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == b""


SENDING = """
import atexit, os, sys

def send():
    os.kill(os.getpid(), int(os.environ["SENT"]))
    for _ in range(10_000):
        pass

class InAClass:
    def __set_name__(self, owner, name):
        send()

class AtItsEnd:
    def __del__(self):
        send()

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "devlint.check":
            {when}

sys.meta_path.insert(0, Finder())
from devlint.cli.main import main
main(["check", "."])
"""
"""A run that gets a signal where its analysis is imported."""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(
    "when",
    [
        pytest.param("type('Made', (), {'field': InAClass()})", id="while a class is made"),
        pytest.param("AtItsEnd()", id="where nothing can be caught"),
        pytest.param("atexit.register(send)", id="when all is told"),
    ],
)
def test_a_signal_ends_a_run_without_a_word(tmp_path: Path, when: str, number: int, code: int) -> None:
    """Before Python 3.12 what is raised while a class is made is a RuntimeError; in ``__del__`` it is lost."""
    (tmp_path / "signalled.py").write_text(SENDING.replace("{when}", when), "utf-8")
    (tmp_path / "many.py").write_text("import torch\n" + "x = torch.zeros(3)\n" * 3000, "utf-8")
    done = subprocess.run(
        [sys.executable, "signalled.py"],
        cwd=tmp_path,
        env=environment(SENT=str(int(number))),
        capture_output=True,
        text=True,
        timeout=60,
    )
    expected = 0 if when.startswith("atexit") else code
    assert (done.returncode, done.stderr.strip()) == (expected, "")
