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
