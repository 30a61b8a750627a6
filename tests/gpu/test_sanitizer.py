"""Races between streams as PyTorch's CUDA sanitizer sees them, each program in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = """\
import json
import torch
from devlint.runtime.observation import to_json
from devlint.runtime.sanitizer import sanitized

found = []
with sanitized(found.append):
    numbers = torch.empty(1 << 20, device="cuda").normal_()
    side = torch.cuda.Stream()
    {wait}
    with torch.cuda.stream(side):
        total = numbers.sum()
    torch.cuda.synchronize()
print(json.dumps([to_json(o) for o in found]))
"""


def found(wait: str, folder: Path) -> list[dict[str, object]]:
    (folder / "program.py").write_text(PROGRAM.format(wait=wait))
    done = subprocess.run(
        [sys.executable, str(folder / "program.py")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    rows: list[dict[str, object]] = json.loads(done.stdout.splitlines()[-1])
    return rows


def test_a_race_is_seen(tmp_path: Path) -> None:
    (race,) = found("pass", tmp_path)
    assert race["kind"] == "stream"
    assert race["judged"] == "device"


def test_a_stream_that_waits_races_with_nobody(tmp_path: Path) -> None:
    assert found("side.wait_stream(torch.cuda.current_stream())", tmp_path) == []
