"""An accelerator taken for granted is told by who asks for one: the same file, another of the package, or nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

import devlint
from devlint.finding import Confidence

LOADING = """\
import torch


def load(path):
    return torch.jit.load(path, map_location="cpu").cuda()
"""
ASKING = """\
import torch


def best_device():
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""
HELPER = LOADING.replace("def load", "def _load")
NESTED = "def made(path):\n    def load():\n        return torch.zeros(3, device='cuda')\n    return load\n"


def _found(directory: Path, **files: str) -> list[tuple[str, Confidence]]:
    (directory / "pyproject.toml").write_text("", "utf-8")
    (directory / "pkg").mkdir()
    for name, text in {"__init__": "", **files}.items():
        (directory / "pkg" / f"{name}.py").write_text(text, "utf-8")
    settings = {"select": ["DEV312"], "min-confidence": "low"}
    found = devlint.lint_paths([directory], isolated=True, cwd=directory, settings=settings)
    return [(finding.place.path, finding.confidence) for finding in found]


@pytest.mark.parametrize("loading", [ASKING + LOADING, ASKING + HELPER, ASKING + NESTED])
def test_beside_a_question_it_is_said_to_who_asks_for_it(tmp_path: Path, loading: str) -> None:
    assert _found(tmp_path, loading=loading) == [("pkg/loading.py", Confidence.LOW)]


def test_what_is_named_for_an_accelerator_needs_one(tmp_path: Path) -> None:
    assert _found(tmp_path, cuda_events=ASKING + LOADING) == []


def test_where_only_another_file_asks_it_may_be_whoever_calls(tmp_path: Path) -> None:
    assert _found(tmp_path, loading=LOADING, devices=ASKING) == [("pkg/loading.py", Confidence.LOW)]


@pytest.mark.parametrize("beside", ["", "import torch\n\nassert torch.cuda.is_available()\n"])
def test_where_nobody_asks_the_package_is_made_for_accelerators(tmp_path: Path, beside: str) -> None:
    assert _found(tmp_path, loading=LOADING, devices=beside) == []


def test_a_file_in_no_package_has_no_others(tmp_path: Path) -> None:
    (tmp_path / "loading.py").write_text(LOADING, "utf-8")
    (tmp_path / "devices.py").write_text(ASKING, "utf-8")
    settings = {"select": ["DEV312"], "min-confidence": "low"}
    assert list(devlint.lint_paths([tmp_path], isolated=True, cwd=tmp_path, settings=settings)) == []


def test_a_script_asks_itself(tmp_path: Path) -> None:
    main = "\n\nif __name__ == '__main__':\n    load('model.pt')\n"
    assert _found(tmp_path, run=LOADING + main, devices=ASKING) == []


def test_a_script_that_asks_at_one_place_asks_at_others(tmp_path: Path) -> None:
    main = "\n\nif __name__ == '__main__':\n    load('model.pt')\n"
    assert _found(tmp_path, run=ASKING + LOADING + main) == [("pkg/run.py", Confidence.LOW)]


MEASURING = """\
import torch


def measured(model: torch.nn.Module, x: torch.Tensor):
    y = model(x)
    torch.cuda.synchronize()
    return y
"""


def test_what_is_measured_in_a_package_that_works_without_says_itself_where_it_is(tmp_path: Path) -> None:
    assert _found(tmp_path, measuring=MEASURING, devices=ASKING) == [("pkg/measuring.py", Confidence.MEDIUM)]


@pytest.mark.parametrize(
    "beside", ["", "import torch\n\nif torch.cuda.is_available():\n    torch.cuda.empty_cache()\n"]
)
def test_what_is_measured_in_a_package_that_needs_an_accelerator(tmp_path: Path, beside: str) -> None:
    assert _found(tmp_path, measuring=MEASURING, devices=beside) == []
