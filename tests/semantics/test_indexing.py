"""Indexing and filling with operands of which little is known."""

from __future__ import annotations

import pytest

from devlint.semantics import (
    Clash,
    Dim,
    DType,
    Elements,
    Meets,
    Operand,
    Operation,
    Unclear,
    method,
    operator,
)
from tests.semantics.test_meeting import at, judge

READ = operator("[]")
WRITE = operator("[]=")


def index(device: str, dim: Dim = Dim.NONZERO, dtype: DType = DType.INT) -> Operand[str]:
    return Operand("indices", device, dim, Elements.UNKNOWN, dtype)


def value(device: str, dim: Dim = Dim.NONZERO, elements: Elements = Elements.MANY) -> Operand[str]:
    return Operand("value", device, dim, elements)


def test_index_on_cpu_into_cuda_tensor_is_legal() -> None:
    assert judge(READ, at("cuda:0"), index("cpu")) == Meets("cuda:0")
    assert judge(READ, at("caller"), index("cpu", Dim.UNKNOWN, DType.UNKNOWN)) == Meets("caller")


def test_index_on_cuda_into_cpu_tensor_clashes() -> None:
    verdict = judge(READ, at("cpu"), index("caller"))
    assert isinstance(verdict, Clash)
    assert (verdict.kind, verdict.operand, verdict.other) == ("index_device", 1, 0)


@pytest.mark.parametrize(
    ("dim", "dtype", "expected"),
    [
        (Dim.ZERO, DType.INT, Meets),
        (Dim.ZERO, DType.BOOL, Meets),
        (Dim.ZERO, DType.UNKNOWN, Unclear),
        (Dim.UNKNOWN, DType.INT, Unclear),
        (Dim.UNKNOWN, DType.BOOL, Clash),
        (Dim.NONZERO, DType.UNKNOWN, Clash),
    ],
)
def test_only_a_0_dim_index_is_read_on_the_host(dim: Dim, dtype: DType, expected: type) -> None:
    assert isinstance(judge(READ, at("cpu"), index("cuda:0", dim, dtype)), expected)


def test_index_on_an_unknown_device_is_unclear() -> None:
    assert isinstance(judge(READ, at("cpu"), index("?")), Unclear)


def test_slices_copy_across_devices() -> None:
    assert judge(WRITE, at("cuda:0"), value("cpu")) == Meets("cuda:0")


def test_assigning_by_index_wants_the_value_beside_the_tensor() -> None:
    verdict = judge(WRITE, at("caller"), index("cpu"), value("cpu"))
    assert isinstance(verdict, Clash)
    assert (verdict.kind, verdict.operand, verdict.other) == ("mismatch_iterator", 2, 0)


@pytest.mark.parametrize("operation", [WRITE, method("index_put_")])
def test_assigning_moves_an_index_from_anywhere(operation: Operation) -> None:
    name = "values" if operation is not WRITE else "value"
    assert judge(operation, at("cpu"), index("cuda:0"), at("cpu", name)) == Meets("cpu")
    assert judge(operation, at("cuda:0"), index("cuda:1"), at("cuda:0", name)) == Meets("cuda:0")
    assert isinstance(judge(operation, at("cpu"), index("cuda:0"), at("cuda:0", name)), Clash)


def test_0_dim_value_is_moved() -> None:
    assert judge(WRITE, at("caller"), index("cpu"), value("cpu", Dim.ZERO)) == Meets("caller")


def test_value_of_unknown_dim_or_device_is_unclear() -> None:
    assert isinstance(judge(WRITE, at("caller"), index("cpu"), value("cpu", Dim.UNKNOWN)), Unclear)
    assert isinstance(judge(WRITE, at("caller"), index("cpu"), value("?")), Unclear)


def test_0_dim_integer_index_makes_the_assignment_a_copy() -> None:
    assert judge(WRITE, at("cuda:0"), index("cpu", Dim.ZERO), value("cpu")) == Meets("cuda:0")
    assert isinstance(judge(WRITE, at("cuda:0"), index("cpu", Dim.UNKNOWN), value("cpu")), Unclear)


@pytest.mark.parametrize(
    ("dtype", "elements", "expected"),
    [
        (DType.BOOL, Elements.ONE, Meets),
        (DType.BOOL, Elements.MANY, Clash),
        (DType.BOOL, Elements.UNKNOWN, Unclear),
        (DType.UNKNOWN, Elements.ONE, Unclear),
        (DType.INT, Elements.ONE, Clash),
    ],
)
def test_one_element_put_through_one_mask_is_a_fill(dtype: DType, elements: Elements, expected: type) -> None:
    operands = [at("cuda:0"), index("cuda:0", dtype=dtype), Operand("values", "cpu", Dim.NONZERO, elements)]
    assert isinstance(judge(method("index_put_"), *operands), expected)


def test_a_mask_put_through_from_elsewhere_is_no_fill() -> None:
    values = Operand("values", "cpu", Dim.NONZERO, Elements.ONE)
    for mask, expected in (("cpu", Clash), ("?", Unclear), ("cuda:0", Meets)):
        operands = [at("cuda:0"), index(mask, dtype=DType.BOOL), values]
        assert isinstance(judge(method("index_put_"), *operands), expected)


def test_index_put_reads_no_index_on_the_host() -> None:
    put = method("index_put_")
    assert isinstance(judge(put, at("cuda:0"), index("cpu", Dim.ZERO), at("cpu", "values")), Clash)
    assert isinstance(judge(put, at("cuda:0"), index("cpu", Dim.UNKNOWN), at("cpu", "values")), Clash)


def test_one_element_from_another_accelerator_is_no_fill() -> None:
    values = Operand("values", "cuda:1", Dim.NONZERO, Elements.ONE)
    assert isinstance(judge(method("index_put_"), at("cuda:0"), index("cuda:0", dtype=DType.BOOL), values), Clash)


@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
def test_one_element_is_assigned_from_anywhere(device: str) -> None:
    assert judge(WRITE, at("cuda:0"), index("cuda:0"), value(device, elements=Elements.ONE)) == Meets("cuda:0")


def fill(subject: str, mask: str, filled: str) -> object:
    return judge(method("masked_fill"), at(subject), at(mask, "mask"), at(filled, "value", Dim.ZERO))


def test_masked_fill_reads_a_cpu_value() -> None:
    assert fill("cuda:0", "cuda:0", "cpu") == Meets("cuda:0")
    assert fill("cuda:0", "cuda:0", "cuda:1") == Meets("cuda:0")


def test_masked_fill_of_a_cpu_tensor_refuses_a_value_elsewhere() -> None:
    assert isinstance(fill("cpu", "cpu", "cuda:0"), Clash)
    assert isinstance(fill("cpu", "cpu", "?"), Unclear)


def test_masked_fill_wants_the_mask_beside_the_tensor() -> None:
    assert isinstance(fill("cuda:0", "cpu", "cpu"), Clash)
    assert isinstance(fill("?", "?", "cuda:0"), Unclear)
