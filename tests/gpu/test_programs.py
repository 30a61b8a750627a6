"""Programs with a device bug fail on CUDA as predicted, and as on the simulated machine; all others pass."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
import torch

from tests.gpu.outcomes import outcomes, predicted, programs

Outcomes = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def on_cuda() -> Outcomes:
    return outcomes("cuda", torch.cuda.device_count())


@pytest.fixture(scope="module")
def simulated() -> Outcomes:
    """With as many devices as there are. It runs beside a real CUDA here, which it must not touch."""
    return outcomes("sim", min(torch.cuda.device_count(), 16))


@pytest.mark.parametrize("name", programs())
def test_what_was_predicted_happens(name: str, on_cuda: Outcomes, simulated: Outcomes) -> None:
    found = on_cuda[name]
    if "numpy" in found["text"].lower() and importlib.util.find_spec("numpy") is None:
        pytest.skip("the program uses numpy, which is not installed here")
    assert found["category"] == predicted(torch.cuda.device_count())[name], found
    assert bool(found["error"]) == bool(found["category"]), found
    assert (found["error"], found["kind"]) == (simulated[name]["error"], simulated[name]["kind"])
