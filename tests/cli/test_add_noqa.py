"""``--add-noqa``: the next run is clean, and nothing else in the files has changed."""

from __future__ import annotations

import json
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, environment
from tests.source.test_notebook import notebook

STRAY = "import torch\nx = torch.ones(3)\nx.cuda()\n"

PROGRAM = '''\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(8, 16)

    def forward(self, x, text="é"):
        hidden = torch.zeros(
            1, x.size(1), 16,
        )
        other = torch.zeros(1, x.size(1), 16) + \\
            0; self.rnn(x, other)
        text = """
        """; out = self.rnn(x, torch.zeros(1, x.size(1), 16))
        x.cuda(0)  # noqa: E501
        return self.rnn(x, hidden), out
'''


@pytest.mark.parametrize(("encoding", "newline"), [("utf-8", "\n"), ("utf-8-sig", "\r\n"), ("latin-1", "\r\n")])
def test_the_next_run_is_clean_and_the_file_otherwise_the_same(
    devlint: Run, tmp_path: Path, encoding: str, newline: str
) -> None:
    text = ("# coding: latin-1\n" if encoding == "latin-1" else "") + PROGRAM
    file = tmp_path / "net.py"
    file.write_bytes(text.replace("\n", newline).encode(encoding))
    file.chmod(0o754)
    before = len(json.loads(devlint("--output-format", "json").stdout)["findings"])
    assert before >= 4
    done = devlint("--add-noqa")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "devlint: wrote 4 noqa comments in 1 file\n"
    after = devlint()
    assert (after.returncode, f"hidden: {before} suppressed" in after.stdout) == (0, True)
    written = file.read_bytes()
    assert written.decode(encoding).count("# noqa: E501, DEV") == 1
    assert written.decode(encoding).count(newline) == text.count("\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o754
    assert devlint("--add-noqa").stderr == "devlint: wrote 0 noqa comments in 0 files\n"
    assert file.read_bytes() == written


def test_notebooks_get_their_comments_in_their_cells(devlint: Run, tmp_path: Path) -> None:
    cells = ("%pip install torch\nimport torch", None, "x = torch.ones(3)\nx.cuda();")
    (tmp_path / "a.ipynb").write_bytes(notebook(*cells, indent=2))
    assert devlint("--add-noqa").returncode == 0
    commented = (*cells[:2], cells[2] + "  # noqa: DEV201")
    assert (tmp_path / "a.ipynb").read_bytes() == notebook(*commented, indent=2)
    assert devlint().returncode == 0


def test_only_what_is_shown_is_silenced(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(STRAY)
    assert devlint("--add-noqa", "--select", "DEV3").stderr == "devlint: wrote 0 noqa comments in 0 files\n"
    assert (tmp_path / "a.py").read_text() == STRAY


def test_what_a_comment_cannot_silence_stays_a_finding(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(STRAY + "y = 1  # noqa: DEV101\n")
    (tmp_path / "b.py").write_text("y = (\n")
    done = devlint("--add-noqa", "--output-format", "concise", "-q")
    assert done.returncode == 1
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["DEV900", "DEV901"]
    assert "# noqa: DEV201" in (tmp_path / "a.py").read_text()


def test_a_link_stays_one(devlint: Run, tmp_path: Path) -> None:
    file = tmp_path / "sub" / "a.py"
    file.parent.mkdir()
    file.write_text(STRAY)
    link = tmp_path / "a.py"
    link.symlink_to(file)
    assert devlint("--add-noqa", "a.py").returncode == 0
    assert link.is_symlink()
    assert "# noqa: DEV201" in file.read_text()


def test_a_file_that_cannot_be_written_is_told_and_stays_whole(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(STRAY)
    done = subprocess.run(
        [sys.executable, "-B", "-m", "devlint", "--add-noqa", "-qn"], cwd=tmp_path, env=environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("devlint: cannot write a.py: file too large\n")
    assert [path.name for path in tmp_path.iterdir()] == ["a.py"]
    assert (tmp_path / "a.py").read_text() == STRAY


def test_standard_input_cannot_be_written_to(devlint: Run) -> None:
    done = devlint("--add-noqa", "-", stdin=STRAY.encode())
    assert (done.returncode, done.stdout) == (2, "")
    assert "--add-noqa writes to files" in done.stderr
