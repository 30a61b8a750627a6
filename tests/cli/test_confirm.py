"""``devlint confirm`` as its user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        shift = torch.zeros(x.shape[-1])
        return self.lin(x) + shift


def build():
    print("building")
    return Net(), torch.rand(2, 4)
"""


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(NET)
    return tmp_path


def test_json_record_and_progress(devlint: Run, cwd: Path) -> None:
    done = devlint(
        "confirm", "net.py", "--entry", "net:build", "--device", "sim", "--output-format", "json", "--record", "r.jsonl"
    )
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    verdict = document["findings"][0]["verdict"]
    assert (verdict["state"], verdict["device"], verdict["simulated"], verdict["entry"]) == (
        "confirmed", "cuda:0", True, "net:build",
    )  # fmt: skip
    assert {operand["born"]["line"] for operand in verdict["operands"]} >= {11}
    assert document["entries"][0]["state"] == "ran"
    assert done.stderr.splitlines()[0] == "devlint: net:build on cuda:0 (simulated): ran"
    rows = [json.loads(line) for line in (cwd / "r.jsonl").read_text().splitlines()]
    assert (rows[0]["type"], rows[-1]["type"]) == ("start", "end")
    assert "observation" in {row["type"] for row in rows}


def test_configured_entries_and_text(devlint: Run, cwd: Path) -> None:
    (cwd / "pyproject.toml").write_text(
        '[[tool.devlint.entries]]\nmodel = "net:Net"\ninit = "width=8"\ninputs = ["float32[2,8]"]\n'
    )
    done = devlint("confirm", "--device", "sim")
    assert done.returncode == 1, done.stderr
    assert "= confirmed: on cuda:0 (simulated) by net:Net" in done.stdout
    assert "`shift` float32[8] on cpu, made at net.py:11:17" in done.stdout
    assert "1 error in 1 file" in done.stdout
    assert ": 1 confirmed" in done.stdout


def test_without_torch_it_cannot_run(devlint: Run, cwd: Path) -> None:
    (cwd / "torch.py").write_text('raise ImportError("no torch here")\n')
    done = devlint("confirm", "net.py", "--entry", "net:build", "--device", "sim", env={"PYTHONPATH": str(cwd)})
    assert done.returncode == 2
    assert "torch cannot be imported (no torch here); install devlint[runtime]" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_no_device_is_told_in_one_line(devlint: Run, cwd: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a device here")
    done = devlint("confirm", "net.py", "--entry", "net:build", "--device", "cuda", "-q")
    assert done.returncode == 2
    assert done.stderr == ("devlint: net:build on cuda:0: there is no CUDA device here; --device sim simulates one\n")
    assert "not reached" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "nothing to run: give --entry"),
        (("--entry", "net"), "--entry net: expected module:name"),
        (("--model", "net:Net"), "say what it is called with"),
        (("--input", "float32[2]"), "no --model is given"),
        (("--entry", "net:build", "--device", "gpu"), "--device gpu: expected auto, cuda, cuda:N, sim or sim:N"),
        (("--entry", "net:build", "--placements", "third"), "expected auto, all, or some of first, second, cpu"),
        (("--entry", "net:build", "--memory-limit", "lots"), "expected a size such as 800M or 4G"),
        (("--entry", "net:build", "--", "--epochs", "1"), "no --script is given"),
    ],
)
def test_bad_usage_is_one_line(devlint: Run, cwd: Path, arguments: tuple[str, ...], reason: str) -> None:
    done = devlint("confirm", *arguments)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ('entry = "a:b"\nmodel = "c:d"', "an entry has one of `entry`, `model` and `script`"),
        ('entries = "a:b"', "an entry has no key `entries`"),
        ("entry = 3", "`entries.entry` must be a string"),
    ],
)
def test_bad_configuration_is_one_line(devlint: Run, cwd: Path, entry: str, reason: str) -> None:
    (cwd / "devlint.toml").write_text(f"[[entries]]\n{entry}\n")
    done = devlint("confirm")
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
