"""What DEV102 offers instead makes what the legacy constructor makes: its dtype, its shape."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch

from devlint.semantics import Factory, function, tables
from tests.fixture_expectations import lint_text

DATA = np.array([[1.0, 2.0], [3.0, 4.0]])

PROGRAM = """
import numpy as np
import torch


def f(x: torch.Tensor, rows):
    return {}
"""


def help_of(call: str) -> str:
    (finding,) = [found for found in lint_text(PROGRAM.format(call), "library.py") if found.code == "DEV102"]
    assert finding.help is not None
    return finding.help


@pytest.mark.parametrize(
    ("written", "offered"),
    [
        ("torch.FloatTensor(np.asarray(rows)", "torch.tensor(data, dtype=torch.float32, device=x.device)"),
        ("torch.LongTensor([1, 2]", "torch.tensor(data, dtype=torch.int64, device=x.device)"),
        ("torch.Tensor([1, 2]", "torch.tensor(data, dtype=torch.get_default_dtype(), device=x.device)"),
        ("torch.DoubleTensor(3", "torch.empty(size, dtype=torch.float64, device=x.device)"),
        ("torch.Tensor(*x.shape", "torch.empty(size, device=x.device)"),
        ("torch.Tensor(2, 3", "torch.empty(size, device=x.device)"),
    ],
)
def test_the_repair_keeps_the_dtype_and_says_data_or_size(written: str, offered: str) -> None:
    assert help_of(f"{written}, device=x.device)") == f"`{offered}`"


def test_of_an_argument_that_may_be_either_both_are_named() -> None:
    assert re.findall(r"torch\.(\w+)\(", help_of("torch.IntTensor(rows, device=x.device)")) == ["tensor", "empty"]


@pytest.mark.parametrize("name", [n for n, row in tables.rows("factories").items() if row.get("makes")])
def test_the_dtype_of_a_legacy_constructor_is_the_one_torch_says(name: str) -> None:
    factory = function(name)
    assert isinstance(factory, Factory)
    made: Any = getattr(torch, name.rpartition(".")[2])
    assert factory.makes == str(made.dtype)


def test_what_is_offered_for_data_has_the_type_that_the_constructor_gives() -> None:
    assert torch.tensor(DATA).dtype is not torch.FloatTensor(DATA).dtype
    assert torch.tensor(DATA, dtype=torch.float32).equal(torch.FloatTensor(DATA))
    assert torch.tensor(DATA, dtype=torch.get_default_dtype()).equal(torch.Tensor(DATA))
