"""A public function that only its own file calls: others may as well, unless that file says what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

import devlint
from devlint.finding import Confidence

SMOOTHED = """\
import torch


def smoothed(x, attack):
    alpha = torch.exp(-1 / attack.view(-1, 1, 1))
    return torch.cat([1 - alpha, torch.zeros(x.size(0), 1, 1)], dim=-1)


"""


def _confidence(directory: Path, used: str) -> Confidence:
    """Of the zeros that the function makes, in a package of which no other file names it."""
    (directory / "pyproject.toml").write_text("", "utf-8")
    (directory / "pkg").mkdir()
    (directory / "pkg" / "__init__.py").write_text("", "utf-8")
    (directory / "pkg" / "effects.py").write_text(SMOOTHED + used, "utf-8")
    (directory / "pkg" / "model.py").write_text("import torch\nplace = torch.device('cuda')\n", "utf-8")
    found = devlint.lint_paths([directory], isolated=True, cwd=directory, settings={"min-confidence": "low"})
    (zeros,) = (finding for finding in found if finding.code == "DEV101")
    return zeros.confidence


@pytest.mark.parametrize(
    "used",
    [
        "def chain(track, **settings):\n    return smoothed(track, **settings)\n",
        "def chain(track, effects):\n    return smoothed(track, effects['attack'])\n",
        "def chain(track, times):\n    return smoothed(track, times.attack)\n",
    ],
)
def test_what_is_not_known_of_its_call_says_nothing(tmp_path: Path, used: str) -> None:
    assert _confidence(tmp_path, used) is Confidence.MEDIUM


@pytest.mark.parametrize(
    "used",
    [
        "def chain(track):\n    return smoothed(track, torch.tensor([1.0, 2.0]))\n",
        "def chain(track, path):\n    return smoothed(track, torch.load(path, map_location='cpu'))\n",
    ],
)
def test_a_call_with_a_tensor_on_the_cpu_says_what_it_is_for(tmp_path: Path, used: str) -> None:
    assert _confidence(tmp_path, used) is Confidence.LOW
