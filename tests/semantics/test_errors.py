"""Kinds of device errors by their text."""

from __future__ import annotations

import pytest
import torch

from devlint.semantics import classify, tables

EXAMPLES = [(kind, text) for kind, row in tables.rows("errors").items() for text in row["examples"]]


@pytest.mark.parametrize(("kind", "text"), EXAMPLES, ids=[text[:60] for _, text in EXAMPLES])
def test_every_example_is_its_own_kind(kind: str, text: str) -> None:
    found = classify(text)
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize("text", ["", "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", "CUDA out of memory."])
def test_other_errors_are_none(text: str) -> None:
    assert classify(text) is None


def test_convolution_of_two_dtypes_is_no_device_error() -> None:
    assert classify("Input type (torch.FloatTensor) and weight type (torch.HalfTensor) should be the same") is None
    both = "Input type (torch.cuda.FloatTensor) and bias type (torch.cuda.HalfTensor) should be the same"
    assert classify(both) is None


def test_fields_name_the_operand_and_the_devices() -> None:
    found = classify(
        "Expected all tensors to be on the same device, but got mat1 is on cpu, different from other tensors on cuda:0 "
        "(when checking argument in method wrapper_CUDA_addmm)"
    )
    assert found is not None
    assert found.fields == {"arg": "mat1", "dev": "cpu", "other": "cuda:0", "wrapper": "wrapper_CUDA_addmm"}
    assert (found.category, found.exceptions) == ("device_mismatch", ("RuntimeError",))


def test_text_raised_by_the_installed_torch_is_known() -> None:
    with pytest.raises(RuntimeError) as raised:
        torch.device("gpu")
    found = classify(str(raised.value))
    assert found is not None
    assert found.kind == "device_string"


def test_every_clash_of_the_tables_is_a_known_kind() -> None:
    names = ("aten", "operations", "operations_by_hand", "operators", "torchvision_by_hand")
    rows = [tables.row(table, name) or {} for table in names for name in tables.rows(table)]
    found = {row.get(key, "") for row in rows for key in ("clash", "scalar_clash")}
    assert found - {""} <= set(tables.rows("errors"))
