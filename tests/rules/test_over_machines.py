"""The rank as an index is told by who starts the processes: a launcher, or another file of the package."""

from __future__ import annotations

from pathlib import Path

import pytest

import devlint
from devlint.finding import Confidence

RANKED = """\
import torch
import torch.distributed as dist


def placed(frames):
    return frames.cuda(dist.get_rank())
"""
STARTING = """\
import torch.multiprocessing as mp

from pkg.ranked import placed


def run(frames):
    mp.spawn(placed, args=(frames,), nprocs=4)
"""


@pytest.mark.parametrize(
    ("beside", "confidence"),
    [(STARTING, Confidence.LOW), (STARTING.replace("mp.spawn", "launch"), Confidence.MEDIUM), ("", Confidence.MEDIUM)],
)
def test_ranks_of_processes_that_the_package_starts_are_likely_indices(
    tmp_path: Path, beside: str, confidence: Confidence
) -> None:
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    (tmp_path / "pkg").mkdir()
    for name, text in {"__init__": "", "ranked": RANKED, "starting": beside}.items():
        (tmp_path / "pkg" / f"{name}.py").write_text(text, "utf-8")
    settings = {"select": ["DEV313"], "min-confidence": "low"}
    found = devlint.lint_paths([tmp_path], isolated=True, cwd=tmp_path, settings=settings)
    assert [(one.place.path, one.confidence) for one in found] == [("pkg/ranked.py", confidence)]
