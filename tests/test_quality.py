"""Types, style and the directions between the packages, held like any other behaviour."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "-m", "mypy", "--strict", "devlint"],
        [sys.executable, "-m", "ruff", "check", "."],
        [str(Path(sys.executable).with_name("lint-imports"))],
    ],
    ids=["mypy", "ruff", "import-linter"],
)
def test_the_code_passes(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", ["devlint.cli.main", "devlint.check", "devlint.rules.registry"])
def test_importing_needs_neither_libcst_nor_torch(module: str) -> None:
    code = f"import sys, {module}; print([name for name in ('libcst', 'torch') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
