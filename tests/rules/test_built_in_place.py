"""A package whose loader builds models under a device, or a test with a default device, leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

import devlint

ROTARY = """\
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.proj = nn.Linear(size, size)
        self.frequencies = torch.arange(size) / size
        self.layers = [nn.Linear(size, size) for _ in range(2)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.proj(x) * self.frequencies
"""

LOADERS = {
    "a device that is asked for": """\
import torch


def load(config, load_device):
    target_device = torch.device(load_device)
    with target_device:
        model = initialize_model(config)
    return model
""",
    "a device named in the statement": """\
import torch


class Loader:
    def load(self, config):
        with torch.device(self.config.device):
            self.model = self.kind.from_config(config)
        return self.model
""",
    "beside another context": """\
import torch


def load(kind, config, dtype):
    with set_default_dtype(dtype), torch.device("cuda"):
        net = kind(config)
    return net
""",
}
OTHERS = {
    "the meta device": LOADERS["a device named in the statement"].replace("self.config.device", '"meta"'),
    "the CPU": LOADERS["beside another context"].replace("cuda", "cpu"),
    "one class alone": LOADERS["beside another context"].replace("kind(config)", "Rotary(config)"),
    "no context": LOADERS["a device that is asked for"].replace("with target_device", "if target_device"),
}

PACKAGE = {"pkg/__init__.py": "", "pkg/rotary.py": ROTARY}


def _codes(directory: Path, files: dict[str, str]) -> set[str]:
    """What is found in the layers of a package, or in its tests."""
    (directory / "pyproject.toml").write_text("", "utf-8")
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    found = devlint.lint_paths([directory], isolated=True, cwd=directory)
    return {one.code for one in found if one.place.path.endswith("rotary.py")}


@pytest.mark.parametrize("loader", LOADERS.values(), ids=LOADERS)
def test_what_a_loader_builds_under_a_device_is_there(tmp_path: Path, loader: str) -> None:
    assert not _codes(tmp_path, PACKAGE | {"pkg/loader.py": loader})


@pytest.mark.parametrize("loader", OTHERS.values(), ids=OTHERS)
def test_what_another_context_builds_is_moved(tmp_path: Path, loader: str) -> None:
    assert _codes(tmp_path, PACKAGE | {"pkg/loader.py": loader}) == {"DEV501", "DEV502"}


def test_a_loader_among_the_tests_says_nothing_of_the_package(tmp_path: Path) -> None:
    loader = LOADERS["a device that is asked for"]
    assert _codes(tmp_path, PACKAGE | {"tests/test_loader.py": loader}) == {"DEV501", "DEV502"}


TEST = """

def test_shape():
    {}
    assert Rotary(8)(torch.ones(2, 8)).shape == (2, 8)
"""


@pytest.mark.parametrize(
    ("statement", "codes"),
    [
        ("torch.set_default_device(DEVICE)", set()),
        ("torch.set_default_device('cuda')", set()),
        ("torch.set_default_device('cpu')", {"DEV502"}),
        ("torch.manual_seed(0)", {"DEV501", "DEV502"}),
    ],
)
def test_what_a_test_builds_is_on_the_default_device_that_it_sets(
    tmp_path: Path, statement: str, codes: set[str]
) -> None:
    text = ROTARY + "\n\nDEVICE = 'cuda'\n" + TEST.format(statement)
    assert _codes(tmp_path, {"tests/test_rotary.py": text}) & {"DEV501", "DEV502"} == codes
