"""Texts made to be slow: none of them is given up for its time. ``tests/benchmarks/slow_shapes.py`` measures growth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmarks.slow_shapes import SHAPES, seconds, star_imports

pytestmark = pytest.mark.no_cover
"""What measures coverage takes several times the processor time that the limit of a file is about."""

SIZE = 128
"""More than files that people write have; beyond, a file is given up after its time (DEV902)."""


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_no_shape_takes_the_time_of_a_file(tmp_path: Path, shape: Callable[[int], str]) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    _, refusal = seconds(shape(SIZE), tmp_path)
    assert "processor time" not in refusal


def test_a_web_of_imports_does_not_either(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    _, refusal = seconds(star_imports(tmp_path, SIZE), tmp_path)
    assert "processor time" not in refusal
