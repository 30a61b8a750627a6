"""Of several star imports that bind a name the last one counts."""

from __future__ import annotations

from pathlib import Path

import pytest

import devlint

USED = "import torch\nfrom pkg import make\n\n\ndef shifted(x: torch.Tensor) -> torch.Tensor:\n    return x + make(x)\n"
ON_THE_CPU = "import torch\n\n\ndef make(x: torch.Tensor) -> torch.Tensor:\n    return torch.zeros(len(x))\n"
BESIDE_IT = "import torch\n\n\ndef make(x: torch.Tensor) -> torch.Tensor:\n    return x.new_zeros(len(x))\n"


@pytest.mark.parametrize(("order", "clashes"), [(("bare", "beside"), False), (("beside", "bare"), True)])
def test_the_last_star_import_binds_the_name(order: tuple[str, str], clashes: bool, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    (tmp_path / "pkg").mkdir()
    stars = "".join(f"from .{name} import *\n" for name in order)
    for name, text in {"__init__": stars, "bare": ON_THE_CPU, "beside": BESIDE_IT, "used": USED}.items():
        (tmp_path / "pkg" / f"{name}.py").write_text(text, "utf-8")
    found = devlint.lint_paths([tmp_path / "pkg" / "used.py"], isolated=True, cwd=tmp_path)
    assert bool([finding for finding in found if finding.code == "DEV101"]) is clashes


BASE = "import torch\n\n\nclass SpanTransform(torch.nn.Module):\n    pass\n"
DERIVED = """\
import torch
from pkg import SpanTransform


class Pairs(SpanTransform):
    def between(self, x):
        return torch.ones_like(x) - torch.eye(x.shape[-1])
"""


@pytest.mark.parametrize("order", [("base", "derived"), ("derived", "base")])
def test_a_module_that_imports_from_its_own_package_hides_no_other(order: tuple[str, str], tmp_path: Path) -> None:
    """Each of the two binds the base class: one defines it, the other has it of the package."""
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    (tmp_path / "pkg").mkdir()
    stars = "".join(f"from .{name} import *\n" for name in order)
    for name, text in {"__init__": stars, "base": BASE, "derived": DERIVED}.items():
        (tmp_path / "pkg" / f"{name}.py").write_text(text, "utf-8")
    found = devlint.lint_paths([tmp_path / "pkg" / "derived.py"], isolated=True, cwd=tmp_path)
    assert [finding.code for finding in found] == ["DEV101"]
