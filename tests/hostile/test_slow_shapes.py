"""Texts made to be slow: none of them is given up for its time. ``tests/benchmarks/slow_shapes.py`` measures growth."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmarks.slow_shapes import SHAPES, seconds, star_imports

SIZE = 128
"""More than files that people write have; beyond, a file is given up after its time (DEV902)."""


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_no_shape_takes_the_time_of_a_file(tmp_path: Path, shape: Callable[[int], str]) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    # In a process of its own: what measures coverage takes several times the processor time that the limit is about.
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, shape.__name__, str(SIZE), str(tmp_path)],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("refusal: ")
    assert "processor time" not in done.stdout


_MEASURED = """
import sys
from pathlib import Path
from tests.benchmarks.slow_shapes import SHAPES, seconds
shape = next(shape for shape in SHAPES if shape.__name__ == sys.argv[1])
print("refusal:", seconds(shape(int(sys.argv[2])), Path(sys.argv[3]))[1])
"""


def test_a_web_of_imports_does_not_either(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    _, refusal = seconds(star_imports(tmp_path, SIZE), tmp_path)
    assert "processor time" not in refusal
