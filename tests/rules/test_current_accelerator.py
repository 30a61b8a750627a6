"""`.cuda()` is no caller's mistake in a package that needs CUDA and sets the current device of each process."""

from __future__ import annotations

from pathlib import Path

import pytest

import devlint
from devlint.finding import Confidence

SHIFTED = """\
import torch


def shifted(frames: torch.Tensor) -> torch.Tensor:
    return frames + torch.ones(frames.shape, device="cuda")
"""
KERNELS = "import triton\n" + SHIFTED
SETS = """\
import os

import torch


def begin():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
"""
SETS_THE_FIRST = [SETS.replace('int(os.environ["LOCAL_RANK"])', f) for f in ("0", '"cuda:0"', 'torch.device("cuda:0")')]
"""What the current one is anyway."""
SETS_BY_ACCELERATOR = SETS.replace("torch.cuda.set_device", "torch.accelerator.set_device_index")
ASKS = """\
import torch


def place():
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""


@pytest.mark.parametrize(
    ("text", "sets", "asks", "confidence"),
    [
        (SHIFTED, SETS, "", Confidence.LOW),
        (SHIFTED, SETS_BY_ACCELERATOR, "", Confidence.LOW),
        (KERNELS, SETS, ASKS, Confidence.LOW),
        (SHIFTED, SETS, ASKS, Confidence.MEDIUM),
        (SHIFTED, "", "", Confidence.MEDIUM),
        *((SHIFTED, sets, "", Confidence.MEDIUM) for sets in SETS_THE_FIRST),
        (KERNELS, "", ASKS, Confidence.MEDIUM),
    ],
)
def test_low_where_the_package_sets_the_device_and_nobody_is_without(
    tmp_path: Path, text: str, sets: str, asks: str, confidence: Confidence
) -> None:
    _write(tmp_path, text, sets, asks)
    assert _confidences(tmp_path) == [("pkg/shifted.py", confidence)]


@pytest.mark.parametrize(("beside", "confidence"), [(SETS, Confidence.LOW), ("", Confidence.MEDIUM)])
def test_a_file_in_no_package_speaks_for_itself(tmp_path: Path, beside: str, confidence: Confidence) -> None:
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    (tmp_path / "layers.py").write_text(beside + SHIFTED, "utf-8")
    (tmp_path / "start.py").write_text(SETS, "utf-8")
    assert _confidences(tmp_path) == [("layers.py", confidence)]


def _write(root: Path, text: str, sets: str, asks: str) -> None:
    (root / "pyproject.toml").write_text("", "utf-8")
    (root / "pkg").mkdir()
    for name, written in {"__init__": "", "shifted": text, "start": sets, "places": asks}.items():
        (root / "pkg" / f"{name}.py").write_text(written, "utf-8")


def _confidences(root: Path, code: str = "DEV302") -> list[tuple[str, Confidence]]:
    settings = {"select": [code], "min-confidence": "low"}
    found = devlint.lint_paths([root], isolated=True, cwd=root, settings=settings)
    return [(one.place.path, one.confidence) for one in found]


SEEDS = """\
import torch


def seed(number):
    torch.manual_seed(number)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(number)
"""
GUARDED = """\
import torch


def padded(frames: torch.Tensor) -> torch.Tensor:
    pads = torch.zeros(frames.shape)
    if frames.is_cuda:
        pads = pads.cuda()
    return torch.cat([frames, pads])
"""


@pytest.mark.parametrize(
    ("asks", "confidence"), [(SEEDS, Confidence.LOW), (ASKS, Confidence.MEDIUM), (SEEDS + ASKS, Confidence.MEDIUM)]
)
def test_who_only_seeds_what_there_is_does_not_work_without(tmp_path: Path, asks: str, confidence: Confidence) -> None:
    _write(tmp_path, SHIFTED, SETS, asks)
    assert _confidences(tmp_path) == [("pkg/shifted.py", confidence)]


@pytest.mark.parametrize(
    ("sets", "asks", "confidence"),
    [(SETS, "", Confidence.LOW), (SETS, ASKS, Confidence.HIGH), ("", "", Confidence.HIGH)],
)
def test_the_current_device_is_that_of_the_tensors(
    tmp_path: Path, sets: str, asks: str, confidence: Confidence
) -> None:
    _write(tmp_path, GUARDED, sets, asks)
    assert _confidences(tmp_path, "DEV310") == [("pkg/shifted.py", confidence)]
