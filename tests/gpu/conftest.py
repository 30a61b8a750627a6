"""Everything here needs a real CUDA device and is skipped, with the reason, where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

HERE = Path(__file__).parent


@pytest.fixture
def static_half() -> None:
    """Skips a test where devlint's other dependencies are not installed."""
    for needed in ("libcst", "click"):
        pytest.importorskip(needed, reason="the static half needs it")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE not in item.path.parents:
            continue
        item.add_marker(pytest.mark.gpu)
        if not torch.cuda.is_available():
            item.add_marker(pytest.mark.skip(reason=f"torch {torch.__version__} finds no CUDA device here"))
