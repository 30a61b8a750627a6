"""``--watch`` as its user sees it: a process that goes on, told by what it prints and how it ends."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run, environment

STRAY = "import torch\nx = torch.ones(3)\nx.cuda()\n"
CLEAN = "import torch\nx = torch.ones(3)\nx = x.cuda()\n"
WAITING = "watching for changes"


class Watcher:
    """A running ``devlint --watch`` on a terminal of its own."""

    def __init__(self, directory: Path, *arguments: str) -> None:
        self._terminal, theirs = pty.openpty()
        os.set_blocking(self._terminal, False)
        self._read = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "devlint", "--watch", "--color", "never", *arguments],
            cwd=directory, env=environment(TERM="xterm"), stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)

    def next_round(self) -> str:
        """What is printed until it waits again."""
        deadline = time.monotonic() + 60
        while WAITING not in self._read:
            assert time.monotonic() < deadline, self._read
            assert self.process.poll() is None, self._read
            try:
                self._read += os.read(self._terminal, 1 << 16).decode()
            except BlockingIOError:
                time.sleep(0.05)
        shown, _, self._read = self._read.partition(WAITING)
        return shown

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self._terminal)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text(STRAY)
    return tmp_path


@pytest.fixture
def watcher(project: Path) -> Iterator[Watcher]:
    running = Watcher(project, "--output-format", "concise")
    yield running
    running.close()


def test_changes_of_files_and_settings_are_seen_until_ctrl_c(project: Path, watcher: Watcher) -> None:
    first = watcher.next_round()
    assert "DEV201" in first
    assert re.search(r"\x1b\[[0-9;]*[HJ]", first), "the screen is cleared"
    (project / "a.py").write_text(CLEAN)
    assert "No device-placement problem" in watcher.next_round()
    (project / "b.py").write_text(STRAY)
    assert "b.py" in watcher.next_round()
    (project / "devlint.toml").write_text("ignore = ['DEV201']\n")
    assert "No device-placement problem" in watcher.next_round()
    (project / "devlint.toml").write_text("ignore = ['DEV2O1']\n")
    assert "unknown code `DEV2O1`" in watcher.next_round()
    (project / "devlint.toml").unlink()
    assert "DEV201" in watcher.next_round()
    assert watcher.interrupt() == 130


def test_a_file_that_is_only_imported_counts_too(project: Path) -> None:
    (project / "helper.py").write_text("import torch\n\n\ndef place(x):\n    return torch.ones(3, device=x.device)\n")
    (project / "net.py").write_text(
        "import torch\nfrom helper import place\n\n\ndef f(x: torch.Tensor):\n    return x.cuda() + place(x)\n"
    )
    running = Watcher(project, "--output-format", "concise", "--select", "DEV101,DEV401", "net.py")
    try:
        assert "No device-placement problem" in running.next_round()
        (project / "helper.py").write_text("import torch\n\n\ndef place(x):\n    return torch.ones(3)\n")
        assert "net.py:6" in running.next_round()
    finally:
        running.close()


def test_what_is_read_or_written_once_cannot_be_watched(devlint: Run) -> None:
    assert devlint("--watch", "-").returncode == 2
    assert devlint("--watch", "--add-noqa").returncode == 2
