"""``torchrun -m devlint confirm``: every rank runs, one reports."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import environment

PROGRAM = """\
import os

import torch
import torch.distributed as dist


def step(device):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    x = torch.ones(3, device=device)
    if rank == 0:
        x = x + torch.zeros(3)
    else:
        x = x * torch.ones(3)
    total = torch.tensor([1.0])
    dist.all_reduce(total)
    assert total.item() == 2
    dist.destroy_process_group()


def build():
    return step
"""


def test_ranks_record_and_rank_0_reports(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(PROGRAM)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = [
        subprocess.Popen(
            [sys.executable, "-m", "devlint", "confirm", "work.py", "--entry", "work:build", "--device", "sim",
             "--output-format", "json", "--timeout", "90"],
            cwd=tmp_path,
            env=environment(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]  # fmt: skip
    outs = [rank.communicate(timeout=150) for rank in ranks]
    assert [rank.returncode for rank in ranks] == [1, 0], outs
    assert outs[1][0] == ""
    document = json.loads(outs[0][0])
    assert sorted((entry["device"], entry["state"]) for entry in document["entries"]) == [
        ("cuda:0", "ran"),
        ("cuda:1", "ran"),
    ]
    states = {(f["line"], f["verdict"]["state"], f["verdict"]["device"]) for f in document["findings"]}
    assert states == {(12, "confirmed", "cuda:0"), (14, "confirmed", "cuda:1")}
    assert not list(Path(os.environ.get("TMPDIR", "/tmp")).glob(f"devlint-ranks-{os.getpid()}-*"))


def test_the_launcher_itself(tmp_path: Path) -> None:
    """`torchrun` starts the ranks, ends with the code of rank 0, and leaves nothing behind."""
    (tmp_path / "work.py").write_text(PROGRAM)
    (tmp_path / "tmp").mkdir()
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    confirm = ["-m", "devlint", "confirm", "work.py", "--entry", "work:build", "--device", "sim", "-o", "report.json",
               "--output-format", "json", "--timeout", "90"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, *launcher, *confirm],
        cwd=tmp_path,
        env=environment(TMPDIR=str(tmp_path / "tmp"), OMP_NUM_THREADS="1"),
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 1, done.stderr
    document = json.loads((tmp_path / "report.json").read_text())
    states = {(f["line"], f["verdict"]["state"], f["verdict"]["device"]) for f in document["findings"]}
    assert states == {(12, "confirmed", "cuda:0"), (14, "confirmed", "cuda:1")}
    assert not list((tmp_path / "tmp").glob("devlint-ranks-*"))
