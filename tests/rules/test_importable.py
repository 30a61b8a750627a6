"""A file that imports a module which its package lacks cannot be imported: what is said there is never met."""

from __future__ import annotations

from pathlib import Path

import pytest

import devlint
from devlint.finding import Confidence

NET = """\
import torch
{imported}
from torch import nn


class Noisy(nn.Module):
    def forward(self, x):
        return x + torch.randn(8, 3)


def train(net, device):
    return net.to(device)
"""


def _confidence(directory: Path, imported: str, *others: str) -> Confidence:
    (directory / "pyproject.toml").write_text("", "utf-8")
    files = ["pkg/__init__.py", "pkg/models/__init__.py", "pkg/data/__init__.py", *others]
    for name, text in {**dict.fromkeys(files, ""), "pkg/models/net.py": NET.format(imported=imported)}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    found = devlint.lint_paths([directory], isolated=True, cwd=directory, settings={"min-confidence": "low"})
    (noise,) = (finding for finding in found if finding.code == "DEV101")
    return noise.confidence


@pytest.mark.parametrize(
    "imported",
    [
        "from ..data.sets import Rows",
        "from ..lost import *",
        "from .parts.heads import Head",
        "from pkg.data.sets import Rows",
        "import pkg.data.sets as sets",
    ],
)
def test_what_it_imports_is_nowhere(imported: str, tmp_path: Path) -> None:
    assert _confidence(tmp_path, imported) is Confidence.LOW


@pytest.mark.parametrize("module", ["pkg/data/sets.py", "pkg/data/sets/__init__.py", "pkg/data/sets.pyi"])
def test_what_it_imports_is_there(module: str, tmp_path: Path) -> None:
    assert _confidence(tmp_path, "from ..data.sets import Rows", module) is Confidence.HIGH


@pytest.mark.parametrize(
    "imported",
    [
        "try:\n    from ..data.sets import Rows\nexcept ImportError:\n    Rows = None",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from ..data.sets import Rows",
        "from .. import data",
        "from .emd_wrap import emd",
        "from .._version import version",
        "from ..version import version",
        "from pkg.models.parts import Head",
        "from pkg.data.sets_pb2 import Rows",
        "from pkg.data.sets_ext import gather",
        "import torch.data.sets",
    ],
)
def test_it_need_not_be_there_or_is_built_later(imported: str, tmp_path: Path) -> None:
    assert _confidence(tmp_path, imported) is Confidence.HIGH


def test_a_package_that_says_where_else_its_modules_are(tmp_path: Path) -> None:
    (tmp_path / "pkg" / "data").mkdir(parents=True)
    assert _confidence(tmp_path, "from pkg.data.sets import Rows") is Confidence.LOW
    (tmp_path / "pkg" / "data" / "__init__.py").write_text(
        "import pkgutil\n\n__path__ = pkgutil.extend_path(__path__, __name__)\n", "utf-8"
    )
    found = devlint.lint_paths([tmp_path], isolated=True, cwd=tmp_path, settings={"min-confidence": "low"})
    assert [finding.confidence for finding in found if finding.code == "DEV101"] == [Confidence.HIGH]


def test_a_package_without_init_may_go_on_elsewhere(tmp_path: Path) -> None:
    assert _confidence(tmp_path, "from pkg.parts.sets import Rows", "pkg/parts/other.py") is Confidence.HIGH
